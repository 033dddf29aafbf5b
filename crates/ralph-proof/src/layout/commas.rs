//! Commas before a closing bracket, which formatters add and remove.

/// What a comma after the last element means here.
pub struct Rules {
    /// `(1,)` is something else than `(1)`, unless it is a call.
    pub tuples: bool,
    /// `a[1,]` is something else than `a[1]`.
    pub subscripts: bool,
    /// A comma before a closing parenthesis is an empty argument.
    pub empty_arguments: bool,
    /// Words after which a parenthesis is no call.
    pub keywords: &'static [&'static str],
}

/// An open bracket.
struct Open {
    bracket: char,
    /// What stands before it can be called or subscripted.
    after_operand: bool,
    commas: usize,
}

/// The tokens without commas that mean nothing.
pub fn without_trailing(tokens: Vec<String>, rules: &Rules) -> Vec<String> {
    let mut made: Vec<String> = Vec::with_capacity(tokens.len());
    let mut open: Vec<Open> = Vec::new();
    for token in tokens {
        match token.as_str() {
            "(" | "[" | "{" => {
                let after_operand = made.last().is_some_and(|last| is_operand(last, rules));
                let bracket = token.chars().next().unwrap_or('(');
                open.push(Open { bracket, after_operand, commas: 0 });
            }
            "," => open.iter_mut().last().into_iter().for_each(|open| open.commas += 1),
            ")" | "]" | "}" => {
                let before = made.len().checked_sub(2).and_then(|index| made.get(index)).map(String::as_str);
                let last = made.last().map(String::as_str);
                let trailing = last == Some(",") && !matches!(before, None | Some("," | "(" | "[" | "{"));
                if trailing && open.last().is_some_and(|open| is_meaningless(open, rules)) {
                    made.pop();
                }
                open.pop();
            }
            _ => {}
        }
        made.push(token);
    }
    made
}

fn is_meaningless(open: &Open, rules: &Rules) -> bool {
    match open.bracket {
        '(' if rules.empty_arguments => false,
        '(' => !rules.tuples || open.after_operand || open.commas > 1,
        '[' => !rules.subscripts || !open.after_operand || open.commas > 1,
        _ => true,
    }
}

fn is_operand(token: &str, rules: &Rules) -> bool {
    let word = token.ends_with(|c: char| c.is_alphanumeric() || c == '_') && !rules.keywords.contains(&token);
    word || matches!(token, ")" | "]" | "!" | "}") || token.starts_with('"')
}
