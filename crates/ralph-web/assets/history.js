// What the last days brought: days, agents, what runs usually take. A number says what is behind it: rates come with their
// interval, estimates only where there are enough runs; agents are listed by name, and none is called better.
import { h, counted, dollars, quoted } from './dom.js';

export const DAYS = 14;

/** `7 of 9 completed (45–94 %)`. */
export function rateWords(rate, word) {
  if (!rate || !rate.of) return '';
  const interval = rate.low == null ? '' : ` (${Math.round(rate.low)}–${Math.round(rate.high)} %)`;
  return `${rate.n} of ${rate.of} ${word}${interval}`;
}

const approximately = (usd, complete) => `${complete === false ? '~' : ''}${dollars(usd)}`;

/** The last days, oldest first, those without a run included. Days are the server's, whose zone may be another: it says which
 * is today, and from there dates are counted as dates. */
function lastDays(stats) {
  const byDay = new Map((stats.days || []).map((day) => [day.day, day]));
  const today = Date.parse(`${stats.today}T00:00:00Z`);
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(today - (DAYS - 1 - i) * 864e5).toISOString().slice(0, 10);
    return byDay.get(day) || { day, loops: 0, completed: 0, proven: 0, costUSD: 0, provenCostUSD: 0 };
  });
}

/** The small chart below the list. */
export function smallHistory(stats) {
  const days = lastDays(stats);
  const most = Math.max(...days.map((day) => day.costUSD), 0.000001);
  const runs = days.reduce((sum, day) => sum + day.loops, 0);
  const words = rateWords(stats.rates?.completed, 'completed');
  return [
    h('a', { class: 'cap', href: '#/history' }, h('span', {}, `${DAYS} days`), h('span', {}, words || counted(runs, 'run'))),
    h('div', { class: 'days', role: 'img', 'aria-label': `Cost of each of the last ${DAYS} days, the green part went into proven work: ${days.map((day) => dollars(day.costUSD)).join(', ')}` },
      days.map((day) => h('i', { title: `${day.day}: ${counted(day.loops, 'run')}, ${day.completed} completed, ${dollars(day.costUSD)}` },
        h('b', { style: { height: `${day.costUSD ? Math.max(2, (day.costUSD - (day.provenCostUSD || 0)) / most * 44) : 1}px` } }),
        day.provenCostUSD ? h('em', { style: { height: `${day.provenCostUSD / most * 44}px` } }) : null))),
  ];
}

const perTask = (stats) => (stats.overall?.costPerVerifiedTaskUSD == null ? '' : `${dollars(stats.overall.costPerVerifiedTaskUSD)} per verified task`);

function table(caption, heads, rows) {
  return h('div', { class: 'tablewrap', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', { class: 'sr' }, caption),
      h('thead', {}, h('tr', {}, heads.map((head, i) => h('th', { scope: 'col', class: i ? 'num' : '' }, head)))),
      h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell, i) => (i ? h('td', { class: 'num' }, cell) : h('th', { scope: 'row' }, cell))))))));
}

const agentName = (row) => quoted('span', {}, [row.agent, row.model].filter(Boolean).join(' '));

function daysTable(stats) {
  const days = lastDays(stats).reverse();
  const most = Math.max(...days.map((day) => day.costUSD), 0.000001);
  return table('Days', ['Day', 'Runs', 'Completed', 'Proven', 'Cost', 'Proven part of the cost'], days.map((day) => [
    day.day, String(day.loops), String(day.completed), String(day.proven ?? 0), approximately(day.costUSD, day.costIsComplete),
    h('span', { class: 'hbar', role: 'img', 'aria-label': dollars(day.provenCostUSD) }, h('em', { style: { width: `${(day.provenCostUSD || 0) / most * 100}%` } }), h('i', { style: { width: `${(day.costUSD - (day.provenCostUSD || 0)) / most * 100}%` } })),
  ]));
}

function agentsTable(rows) {
  return table('Agents', ['Agent', 'Runs', 'Calls', 'Claims that held', 'Cost'], rows.map((row) => [
    agentName(row), String(row.loops), String(row.calls), row.claims ? `${row.claimsHeld} of ${row.claims}` : '–', approximately(row.costUSD, row.costIsComplete),
  ]));
}

function estimatesTable(rows) {
  return table('Typical runs', ['Agent', 'Runs', 'Iterations, p50', 'p90', 'Cost per iteration, p50', 'p90'], rows.map((row) => [
    agentName(row), String(row.runs), String(row.iterationsP50), String(row.iterationsP90), approximately(row.costP50USD, row.costIsComplete), approximately(row.costP90USD, row.costIsComplete),
  ]));
}

function counts(entries, words) {
  const rows = Object.entries(entries || {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  return rows.length ? h('ul', { class: 'plain' }, rows.map(([name, n]) => h('li', {}, `${n} ${words(name)}`))) : null;
}

const section = (title, ...kids) => (kids.some(Boolean) ? h('section', {}, h('h3', {}, title), ...kids) : null);

/** The page. */
export function historyPage(stats) {
  const o = stats.overall || {};
  const sentences = [
    rateWords(stats.rates?.completed, 'completed'), rateWords(stats.rates?.proven, 'shown to need the work'),
    `${approximately(o.costUSD, o.costIsComplete)} in all`, perTask(stats), o.testsFixed ? `${counted(o.testsFixed, 'test')} fixed` : '',
  ].filter(Boolean);
  const waste = stats.waste || {};
  const scripted = stats.scriptedRuns ? `${counted(stats.scriptedRuns, 'run')} of the scripted agent not counted.` : '';
  return h('div', { class: 'history' },
    h('a', { class: 'back', href: '#/' }, '‹ All runs'),
    h('h2', {}, 'History'),
    h('p', { class: 'meta' }, sentences.map((text) => h('span', {}, text))),
    o.loops ? null : h('p', { class: 'lead' }, 'No run of an agent is recorded yet.'),
    scripted ? h('p', { class: 'lead' }, scripted) : null,
    section(`The last ${DAYS} days`, daysTable(stats)),
    section('Agents', stats.byAgent?.length ? agentsTable(stats.byAgent) : null,
      stats.byAgent?.length > 1 ? h('p', { class: 'lead' }, 'Different tasks went to different agents: the figures describe, they do not compare.') : null),
    section('Typical runs, from at least five', stats.estimates?.length ? estimatesTable(stats.estimates) : null),
    section('What was shown', counts(o.grades, (name) => name)),
    section('Why runs stopped', counts(stats.abortReasons, (name) => name.toLowerCase().replaceAll('_', ' '))),
    section('Without effect', waste.idleIterations || waste.retries ? h('ul', { class: 'plain' },
      h('li', {}, `${counted(waste.idleIterations || 0, 'iteration')} after the last that brought something new, ${dollars(waste.idleCostUSD)}`),
      h('li', {}, `${waste.retries === 1 ? '1 retry' : `${waste.retries || 0} retries`}, ${dollars(waste.retryCostUSD)}`)) : null));
}
