//! Ceilings: a value above one is lowered to it, and a warning names both and who set the ceiling.

use super::loaded::Config;
use super::setting::Setting;
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use toml::Value;

/// The setting, lowered to its ceiling.
pub fn lowered(setting: Setting, ceiling: &Setting) -> Setting {
    let (Some(asked), Some(most)) = (&setting.value, &ceiling.value) else { return setting };
    if number(asked) <= number(most) {
        return setting;
    }
    let note = warning(setting.key.name, &shown(asked), &shown(most), ceiling);
    Setting { value: Some(most.clone()), note: Some(note), ..setting }
}

impl Config {
    /// Lowers the limits of a policy that was resolved earlier, and applies what only the user's own file may loosen.
    /// Returns the warnings.
    pub fn cap(&self, policy: &mut Policy) -> Vec<String> {
        let ceilings = &self.settings.ceilings;
        let mut warnings = Vec::new();
        let mut warn = |key: &str, asked: String, most: String, ceiling: &str| {
            warnings.extend(self.setting(ceiling).map(|ceiling| warning(key, &asked, &most, &ceiling)));
        };
        if policy.max_iterations > ceilings.max_iterations {
            let (asked, most) = (policy.max_iterations.to_string(), ceilings.max_iterations.to_string());
            warn("run.max_iterations", asked, most, "ceilings.max_iterations");
            policy.max_iterations = ceilings.max_iterations;
        }
        if policy.max_cost > ceilings.max_cost {
            let (asked, most) = (policy.max_cost.to_string(), ceilings.max_cost.to_string());
            warn("run.max_cost_usd", asked, most, "ceilings.max_cost_usd");
            policy.max_cost = ceilings.max_cost;
        }
        policy.daily_cost = ceilings.daily_cost;
        policy.oracle = self.settings.policy.oracle;
        warnings.extend(self.setting("verify.oracle").and_then(|setting| setting.note));
        warnings
    }
}

fn warning(key: &str, asked: &str, most: &str, ceiling: &Setting) -> String {
    let by =
        if ceiling.said.is_empty() { "ralph's default".into() } else { format!("set by {}", ceiling.from) };
    format!("{key} = {asked} is above the ceiling of {most} ({by}); using {most}")
}

fn number(value: &Value) -> f64 {
    let whole = value.as_integer().map(|n| i32::try_from(n).map_or(f64::INFINITY, f64::from));
    whole.or_else(|| value.as_float()).unwrap_or(0.0)
}

/// Counts as they are, dollars as money.
fn shown(value: &Value) -> String {
    match value.as_float().and_then(Micro::from_usd) {
        Some(usd) => usd.to_string(),
        None => value.to_string(),
    }
}
