//! The cost of one call: the agent's own figure, otherwise tokens × the price table, otherwise what was seen of a call that
//! ralph ended, otherwise unknown and counted as the reservation. Also separates this call's share from the totals of a continued conversation.

use crate::money::{Micro, Usage};
use crate::prices::Prices;
use crate::record::{ConversationTotals, PriceFrom};

/// What is known of a call when it has closed.
#[derive(Clone, Debug, Default)]
pub struct Account<'a> {
    /// Cost as the agent reported it.
    pub reported: Option<Micro>,
    /// Tokens as it reported them.
    pub usage: Usage,
    /// The same by model, if reported.
    pub models: &'a [(String, Usage)],
    /// Its model.
    pub model: Option<&'a str>,
    /// The call ended by itself.
    pub finished: bool,
    /// The provider refused it, and nothing was seen of any work: nothing was sold.
    pub refused: bool,
    /// The reported cost may be that of a whole conversation.
    pub sums_cost: bool,
    /// The reported tokens may be those of a whole conversation.
    pub sums_usage: bool,
    /// Totals of the conversation before this call, if known.
    pub before: Option<ConversationTotals>,
    /// Cost seen while it ran.
    pub live: Micro,
    /// That cost is a guess: the model's price is not known.
    pub guessed: bool,
    /// What is held for it.
    pub reserved: Micro,
    /// Ralph ended it.
    pub cut_short: bool,
    /// Ralph ended it at the budget's limit: the turn under way must be counted, too.
    pub at_limit: bool,
}

/// The charged amount, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Booked.
    pub charged: Micro,
    /// How the amount is known.
    pub price: PriceFrom,
    /// This call's own cost, as the agent reported it.
    pub reported: Option<Micro>,
    /// Its tokens × the price table.
    pub computed: Option<Micro>,
    /// Its tokens.
    pub usage: Usage,
    /// Totals of the conversation, if one is continued.
    pub told: Option<ConversationTotals>,
}

/// What a call cost.
pub fn cost(account: &Account<'_>, prices: &Prices) -> Cost {
    let usage = own_usage(account);
    let computed = computed(account, &usage, prices);
    let reported = own_cost(account, computed);
    let (charged, price) = match (reported, computed) {
        (Some(cost), _) => (cost, PriceFrom::Reported),
        (None, Some(cost)) if account.finished => (cost, PriceFrom::Computed),
        _ if account.refused && account.live == Micro::ZERO && usage.total() == 0 => {
            (Micro::ZERO, PriceFrom::Computed)
        }
        _ if counts_as_seen(account, computed) => (seen(account, computed), PriceFrom::Seen),
        _ => (account.reserved.max(account.live), PriceFrom::Unpriced),
    };
    // What was seen is never taken back, but a guess gives way to a price, and rounding to the agent's own figure.
    let rounded = reported.is_some_and(|cost| account.live <= cost.plus(Micro((cost.0 / 100).max(100))));
    let charged = if account.guessed || rounded { charged } else { charged.max(account.live) };
    let told = (account.sums_cost || account.sums_usage)
        .then_some(ConversationTotals { cost: account.reported, usage: account.usage });
    Cost { charged, price, reported, computed, usage, told }
}

/// Whether a call without a known cost is counted as what was seen of it: one that ralph ended, and one that ended
/// early by itself, if the price of its tokens is known.
fn counts_as_seen(account: &Account<'_>, computed: Option<Micro>) -> bool {
    let priced = computed.is_some() || account.cut_short;
    priced && !account.at_limit && seen(account, computed) > Micro::ZERO
}

/// The cost of the turns that were seen to end.
fn seen(account: &Account<'_>, computed: Option<Micro>) -> Micro {
    account.live.max(computed.unwrap_or_default())
}

fn own_usage(account: &Account<'_>) -> Usage {
    let all = account.usage;
    match account.before.filter(|_| account.sums_usage) {
        Some(before) => all.since(&before.usage).unwrap_or(all),
        None => all,
    }
}

/// Side requests have models of their own. Where their names are all known each is priced by itself; one name that is
/// not known is taken for another name of the call's model, several are not.
fn computed(account: &Account<'_>, usage: &Usage, prices: &Prices) -> Option<Micro> {
    if usage.total() == 0 {
        return None;
    }
    let whole = || prices.find(account.model?)?.sum(usage);
    if account.models.is_empty() || account.sums_cost || account.sums_usage {
        return whole();
    }
    let each = account.models.iter().map(|(model, used)| prices.find(model)?.sum(used));
    let sum = each.sum::<Option<Micro>>().filter(|sum| *sum <= Micro::MOST);
    sum.or_else(|| whole().filter(|_| account.models.len() == 1))
}

/// Some clients report the cost of the whole conversation, others that of this call, without saying which. What was
/// seen during the call, or its tokens, decide. If they cannot, the higher amount is charged.
fn own_cost(account: &Account<'_>, computed: Option<Micro>) -> Option<Micro> {
    // Some clients report a cost of zero for a model whose price they do not know.
    let told = account.reported.filter(|cost| *cost > Micro::ZERO || account.usage.total() == 0)?;
    if !account.sums_cost {
        return Some(told);
    }
    let seen = seen(account, computed);
    match account.before.and_then(|before| before.cost) {
        Some(before) if told >= before && seen > Micro::ZERO && nearly(told.minus(before), seen) => {
            Some(told.minus(before))
        }
        Some(_) => Some(told),
        None if told.0 / 11 <= seen.0 / 10 => Some(told),
        None => None,
    }
}

/// At least nine tenths of it.
fn nearly(amount: Micro, of: Micro) -> bool {
    amount.0 / 9 >= of.0 / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    const SONNET: &str = "claude-sonnet-4-6";

    fn tokens(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    fn account() -> Account<'static> {
        Account {
            usage: tokens(100_000),
            model: Some(SONNET),
            finished: true,
            reserved: Micro(500_000),
            ..Account::default()
        }
    }

    fn price(account: &Account<'_>) -> (i64, PriceFrom) {
        let cost = cost(account, &Prices::default());
        (cost.charged.0, cost.price)
    }

    #[test]
    fn the_agents_figure_then_tokens_then_the_reservation() {
        let reported = Some(Micro(70_000));
        assert_eq!(price(&Account { reported, ..account() }), (70_000, PriceFrom::Reported));
        assert_eq!(price(&account()), (300_000, PriceFrom::Computed));
        for unpriced in [
            Account { model: Some("nobody"), ..account() },
            Account { model: None, ..account() },
            Account { finished: false, at_limit: true, ..account() },
            Account { finished: false, model: None, ..account() },
            Account { usage: Usage::default(), ..account() },
            Account { usage: tokens(u64::MAX), ..account() },
        ] {
            assert_eq!(price(&unpriced), (500_000, PriceFrom::Unpriced), "{unpriced:?}");
        }
    }

    #[test]
    fn a_cost_of_zero_for_tokens_is_unknown_not_free() {
        let zero = Account { reported: Some(Micro::ZERO), ..account() };
        assert_eq!(price(&zero), (300_000, PriceFrom::Computed));
        assert_eq!(price(&Account { model: None, ..zero.clone() }), (500_000, PriceFrom::Unpriced));
        assert_eq!(price(&Account { usage: Usage::default(), ..zero }), (0, PriceFrom::Reported));
    }

    #[test]
    fn a_call_that_ended_early_costs_its_tokens_where_their_price_is_known() {
        assert_eq!(price(&Account { finished: false, ..account() }), (300_000, PriceFrom::Seen));
    }

    #[test]
    fn what_was_seen_is_not_taken_back_but_a_guess_is() {
        let live = Micro(900_000);
        let reported = Some(Micro(70_000));
        assert_eq!(price(&Account { reported, live, ..account() }).0, 900_000);
        assert_eq!(price(&Account { reported, live: Micro(70_007), ..account() }).0, 70_000, "rounding");
        assert_eq!(price(&Account { reported, live, guessed: true, ..account() }).0, 70_000);
        let lost = Account { finished: false, live, guessed: true, model: None, ..account() };
        assert_eq!(price(&lost), (900_000, PriceFrom::Unpriced));
    }

    #[test]
    fn a_call_that_the_provider_refused_before_any_work_costs_nothing() {
        let refused = Account { refused: true, usage: Usage::default(), ..account() };
        assert_eq!(price(&refused), (0, PriceFrom::Computed));
        let worked = Account { live: Micro(1), ..refused.clone() };
        assert_eq!(price(&worked), (500_000, PriceFrom::Unpriced));
        let used = Account { usage: tokens(1000), model: None, ..refused };
        assert_eq!(price(&used), (500_000, PriceFrom::Unpriced));
    }

    #[test]
    fn a_call_that_was_cut_short_costs_what_was_seen_of_it() {
        let cut = Account { finished: false, cut_short: true, usage: tokens(1000), ..account() };
        assert_eq!(price(&cut), (3_000, PriceFrom::Seen));
        assert_eq!(price(&Account { live: Micro(4_000), ..cut.clone() }), (4_000, PriceFrom::Seen));
        let guessed = Account { model: None, live: Micro(4_000), guessed: true, ..cut.clone() };
        assert_eq!(price(&guessed), (4_000, PriceFrom::Seen));
        let reported = Account { reported: Some(Micro(5_000)), ..cut.clone() };
        assert_eq!(price(&reported), (5_000, PriceFrom::Reported), "the agent's figure counts");
        let silent = Account { usage: Usage::default(), ..cut };
        assert_eq!(price(&silent), (500_000, PriceFrom::Unpriced), "nothing was seen");
    }

    #[test]
    fn side_requests_are_priced_by_their_own_model() {
        let two = [(SONNET.into(), tokens(90_000)), ("claude-haiku-4-5".into(), tokens(10_000))];
        let account = Account { models: &two, ..account() };
        assert_eq!(price(&account), (280_000, PriceFrom::Computed));
        let odd = [(SONNET.into(), tokens(90_000)), ("nobody".into(), tokens(10_000))];
        assert_eq!(price(&Account { models: &odd, ..account }).1, PriceFrom::Unpriced);
        let named = [("another-name".into(), tokens(100_000))];
        assert_eq!(price(&Account { models: &named, ..super::tests::account() }).0, 300_000);
    }

    #[test]
    fn of_a_resumed_conversation_only_this_call_is_booked() {
        // Three calls of the same work, as two versions of one client report them.
        let (seen, per_call) = (Micro(11_080), [11_080, 11_080, 11_080]);
        for reports in [[11_080, 22_160, 33_240], per_call] {
            let mut before = None;
            for told in reports {
                let account = Account {
                    reported: Some(Micro(told)),
                    sums_cost: true,
                    live: seen,
                    before,
                    usage: tokens(3000),
                    ..account()
                };
                let cost = cost(&account, &Prices::default());
                assert_eq!((cost.charged, cost.reported), (seen, Some(seen)), "{reports:?} {told}");
                before = cost.told;
            }
        }
    }

    #[test]
    fn a_conversation_from_before_the_run_is_priced_by_this_calls_tokens() {
        let account = Account { reported: Some(Micro(9_000_000)), sums_cost: true, ..account() };
        assert_eq!(price(&account), (300_000, PriceFrom::Computed));
        let unknown = Account { model: Some("nobody"), ..account };
        assert_eq!(price(&unknown), (500_000, PriceFrom::Unpriced));
    }

    #[test]
    fn tokens_of_a_whole_thread_are_counted_from_where_it_stood() {
        let before = Some(ConversationTotals { cost: None, usage: tokens(60_000) });
        let account = Account { sums_usage: true, before, ..account() };
        let own = cost(&account, &Prices::default());
        assert_eq!((own.usage, own.charged), (tokens(40_000), Micro(120_000)));
        assert_eq!(own.told.map(|told| told.usage), Some(tokens(100_000)));
        let shrunk =
            Account { before: Some(ConversationTotals { cost: None, usage: tokens(200_000) }), ..account };
        assert_eq!(cost(&shrunk, &Prices::default()).usage, tokens(100_000), "another thread");
    }
}
