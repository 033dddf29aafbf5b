//! The runs of some days on a page: the numbers, then each run with its strip.

use super::markup::Markup;
use super::page;
use super::run_page::{started, tone_class};
use super::strip_svg::strip_svg;
use crate::card::Card;
use crate::fact_text::money;
use crate::overview::Counts;
use ralph_rules::counting::counted;
use ralph_rules::money::Micro;
use ralph_rules::record::Ms;
use ralph_rules::report::{Agent, Report};

/// What a page about some days is made of.
pub struct DayPage<'a> {
    /// The numbers.
    pub report: &'a Report,
    /// The runs of these days, oldest first.
    pub cards: &'a [Card],
    /// Runs that are not among them, because there are too many.
    pub left_out: usize,
    /// The zone for times of day.
    pub zone: &'a str,
    /// The time, UTC milliseconds.
    pub now: Ms,
}

/// Room for one run: its texts are bounded, and its strip has few bars.
const A_RUN: usize = 8 << 10;

/// The page.
pub fn day_page(day: &DayPage<'_>) -> String {
    let days = match day.report.from == day.report.to {
        true => day.report.to.clone(),
        false => format!("{} to {}", day.report.from, day.report.to),
    };
    page(&format!("ralph · {days}"), |page| {
        page.element("h1", &[], &headline(day.cards));
        page.element("p", &[("class", "meta")], &format!("ralph · {days}"));
        numbers(page, day.report);
        agents(page, &day.report.by_agent);
        for card in day.cards {
            if page.has_room_for(A_RUN) {
                run(page, card, day);
            }
        }
        if day.left_out > 0 {
            let more = format!("{} not shown.", counted(day.left_out as u64, "further run"));
            page.element("p", &[("class", "faint")], &more);
        }
    })
}

fn headline(cards: &[Card]) -> String {
    let counts = Counts::of(cards);
    match (cards.len(), counts.needs_you) {
        (0, _) => "No runs.".into(),
        (all, 0) => format!("{}, none needs you.", counted(all as u64, "run")),
        (all, 1) => format!("{}, one needs you.", counted(all as u64, "run")),
        (all, n) => format!("{}, {n} need you.", counted(all as u64, "run")),
    }
}

fn numbers(page: &mut Markup, report: &Report) {
    let all = &report.overall;
    let usd = |amount: f64| money(Micro::from_usd(amount).unwrap_or_default().0, all.cost_is_complete);
    let grades: Vec<String> = all.grades.iter().map(|(grade, runs)| format!("{runs} {grade}")).collect();
    let rows = [
        ("completed", format!("{} of {}", all.completed, all.loops)),
        ("proof", if grades.is_empty() { "none".into() } else { grades.join(", ") }),
        ("cost", usd(all.cost)),
        ("per proven or tested run", all.cost_per_verified.map_or("unknown".into(), usd)),
        ("tests fixed", all.tests_fixed.to_string()),
    ];
    page.raw("<table>\n");
    for (name, value) in rows {
        page.raw("<tr>");
        page.element("th", &[("scope", "row")], name);
        page.element("td", &[], &value);
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
    for alert in &report.alerts {
        page.element("p", &[], alert);
    }
    if report.scripted_runs > 0 {
        let scripted =
            format!("Not counted: {} of the scripted agent.", counted(report.scripted_runs, "run"));
        page.element("p", &[("class", "faint")], &scripted);
    }
}

fn agents(page: &mut Markup, agents: &[Agent]) {
    if agents.is_empty() {
        return;
    }
    page.raw("<table>\n<tr><th>Agent</th><th class=\"number\">Runs</th><th class=\"number\">Calls</th>");
    page.raw("<th class=\"number\">Cost</th></tr>\n");
    for agent in agents {
        let model = agent.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
        page.raw("<tr>");
        page.element("td", &[], &format!("{}{model}", agent.agent));
        page.element("td", &[("class", "number")], &agent.loops.to_string());
        page.element("td", &[("class", "number")], &agent.calls.to_string());
        let cost = money(Micro::from_usd(agent.cost).unwrap_or_default().0, agent.cost_is_complete);
        page.element("td", &[("class", "number")], &cost);
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
}

fn run(page: &mut Markup, card: &Card, day: &DayPage<'_>) {
    let row = &card.run.row;
    page.open("section", &[("class", "run")]);
    page.element("h2", &[], &row.task);
    let began = started(row.started, day.now, day.zone);
    let cost = card.run.cost();
    let model = row.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
    let meta =
        format!("{} · {}{model} · started {began} · {cost} · run {}", card.name, row.agent, card.short);
    page.element("p", &[("class", "meta")], &meta);
    page.open("p", &[("class", tone_class(card.tone))]);
    page.element("strong", &[], &card.word);
    page.text(&format!(" {}", card.line));
    page.close("p");
    strip_svg(page, &card.strip);
    page.close("section");
}
