//! A test function for every CLI and case, so that a failure names both.

/// Test functions by name.
#[macro_export]
macro_rules! tests {
    ($($name:ident => $case:expr;)*) => {
        $(#[test] fn $name() { $case; })*
    };
}

/// These CLIs are all the agents of a tier, so that none is left out.
#[macro_export]
macro_rules! tier_is_complete {
    ($tier:expr, $($cli:expr),*) => {
        #[test]
        fn every_agent_of_the_tier_is_tested() {
            let mut tested = vec![$($cli.info.name),*];
            let all = ralph_agents::registry::AGENTS.iter().filter(|info| info.tier == $tier);
            let mut all: Vec<&str> = all.map(|info| info.name).collect();
            tested.sort_unstable();
            all.sort_unstable();
            assert_eq!(tested, all);
        }
    };
}

/// What every CLI must do, as whoever runs the tests and, where that is root, as an ordinary user too.
#[macro_export]
macro_rules! every_case {
    ($cli:expr) => {
        $crate::tests! {
            works_until_it_is_proven => $crate::cases::works(&$cli, $crate::place::User::Ours);
            works_for_an_ordinary_user => $crate::cases::works(&$cli, $crate::place::User::Ordinary);
            is_refused_its_key => $crate::cases::is_refused_its_key(&$cli);
            waits_for_its_limit => $crate::cases::waits_for_its_limit(&$cli);
            waits_out_an_overload => $crate::cases::waits_out_an_overload(&$cli);
            gives_up_on_a_broken_provider => $crate::cases::gives_up_on_a_broken_provider(&$cli);
            waits_for_the_network => $crate::cases::waits_for_the_network(&$cli);
            survives_the_death_of_ralph =>
                $crate::cases::survives_the_death_of_ralph(&$cli, $crate::place::User::Ours);
            survives_the_death_of_ralph_for_an_ordinary_user =>
                $crate::cases::survives_the_death_of_ralph(&$cli, $crate::place::User::Ordinary);
        }
    };
}
