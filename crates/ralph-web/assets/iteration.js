// The iterations of a run, newest first; one of them open, with its changes, verification, activity and prompt. Each of
// these is asked for when it is opened.
import { h, say, attr, mark, took, counted, capital, clock, quoted, ticks, part } from './dom.js';
import { WORDS, barCost } from './strip.js';
import { get } from './api.js';

export const TABS = [['changes', 'Changes'], ['verification', 'Verification'], ['activity', 'Activity'], ['prompt', 'Prompt']];
const PAGE = 100;
export const LOG_LINES = 400; // on the page at most
const TONE = { proven: 'good', wrong: 'bad', under_way: 'live' };

/** One line of what an agent said or did. */
export function logLine(line, zone) {
  const time = h('time', {}, clock(line.at, zone));
  const result = { runs: 'running', done: 'done', failed: 'failed' }[line.tool] || '';
  const kids = line.kind === 'tool'
    ? [h('span', { class: 'do' }, quoted('span', { class: 'tool' }, line.name), h('span', { dir: 'auto', class: 'arg q' }, line.text)), h('span', { class: `r ${line.tool || ''}` }, result)]
    : [quoted('span', { class: line.kind === 'note' ? 'said note' : 'said' }, line.text)];
  return h('div', { 'data-line': line.n }, time, ...kids);
}

const pre = (label, ...kids) => h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, ...kids);
const nothing = (text) => h('p', { class: 'lead' }, ...ticks(text));

/** A unified diff; neighbouring lines of a kind share an element. */
function diffLines(text) {
  const kind = (line) => (line.startsWith('@@') || line.startsWith('diff ') || line.startsWith('--- ') || line.startsWith('+++ ') ? 'h' : line[0] === '+' ? 'a' : line[0] === '-' ? 'd' : 'x');
  const runs = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const of = kind(line);
    if (runs.at(-1)?.of === of) runs.at(-1).lines.push(line);
    else runs.push({ of, lines: [line] });
  }
  return runs.map(({ of, lines }) => h('span', { class: of }, `${lines.join('\n')}\n`));
}

function changes(diff) {
  const files = diff.files || [];
  const count = (file) => (file.added == null ? '' : ` +${file.added} −${file.removed}`);
  const rest = (diff.leftOut || []).map((left) => h('li', {}, h('code', {}, left.path), ` ${left.why}`));
  return h('div', {},
    files.length ? null : nothing('No file was changed.'),
    files.map((file) => [
      h('p', { class: 'file' }, h('code', { dir: 'auto', class: 'q' }, file.path), h('span', {}, ` ${file.change}${count(file)}`)),
      file.diff ? pre(`Changes in ${file.path}`, ...diffLines(file.diff)) : file.notShown ? nothing(file.notShown) : null,
    ]),
    diff.truncated ? nothing('The rest is not shown here: `ralph logs --diff` has all of it.') : null,
    rest.length ? h('ul', { class: 'plain' }, rest) : null);
}

function verification({ checks = [] }, zone) {
  if (!checks.length) return nothing('Nothing was verified in this iteration.');
  return h('div', {}, checks.map((check) => [
    h('p', { class: 'file' }, mark(check.passed == null ? 'open' : check.passed ? 'good' : 'bad', check.passed ? 'passed' : 'did not pass'), ' ', ...ticks(capital(check.check)), h('span', {}, ` ${clock(check.at, zone)}`)),
    (check.results || []).map((result) => [
      h('p', { class: 'file' }, h('code', { dir: 'auto', class: 'q' }, result.command), h('span', {}, ` ${resultWords(result)}`)),
      result.failed?.length ? h('ul', { class: 'plain' }, result.failed.map((name) => h('li', {}, quoted('code', {}, name)))) : null,
      result.tail ? pre(`Output of ${result.command}`, result.tail) : null,
    ]),
  ]));
}

function resultWords(result) {
  const how = result.how === 'failed' && result.exit != null ? `exit code ${result.exit}` : result.how.replaceAll('_', ' ');
  const failing = result.failing ? `${result.failing[0]} of ${counted(result.failing[1], 'test')} failing` : '';
  return [how, failing, took(result.ms)].filter(Boolean).join(' · ');
}

function prompt({ text, truncated, pruned }) {
  if (pruned || text == null) return nothing('The prompt is no longer kept.');
  return h('div', {}, pre('Prompt', text), truncated ? nothing('The rest is not shown here.') : null);
}

/** What the agent said and did in one attempt, page by page. */
function activity(first, path, zone) {
  if (first.pruned && !first.lines.length) return nothing('What the agent said and did is no longer kept.');
  if (!first.lines.length) return nothing('The agent printed nothing.');
  const log = h('div', { class: 'log', role: 'region', 'aria-label': 'What the agent said and did', tabindex: '0' });
  const more = h('button', { class: 'btn more', type: 'button' }, 'More lines');
  let next = null;
  const add = (page) => {
    log.append(...page.lines.map((line) => logLine(line, zone)));
    while (log.childElementCount > LOG_LINES) log.firstElementChild.remove();
    next = page.next;
    more.hidden = next == null;
  };
  more.addEventListener('click', async () => {
    more.disabled = true;
    try { add(await get(`${path}after=${next}&limit=${PAGE}`)); } catch (error) { more.textContent = error.message; }
    more.disabled = false;
  });
  add(first);
  return h('div', {}, log, more);
}

/** The open iteration: tabs, and the panel of the chosen one. */
class Body {
  constructor(run, n, go) {
    this.path = `runs/${run}/iterations/${n}`;
    this.id = `it-${n}`;
    this.loaded = new Map();
    this.tabs = TABS.map(([name, title]) => h('button', { type: 'button', role: 'tab', id: `${this.id}-${name}`, 'aria-controls': `${this.id}-panel`, 'data-tab': name, onclick: () => go(n, name) }, title));
    this.panel = h('div', { role: 'tabpanel', id: `${this.id}-panel` });
    this.attempts = h('div', { class: 'attempts' });
    this.node = h('div', { class: 'body' }, h('div', { class: 'tabs', role: 'tablist', 'aria-label': `Iteration ${n}`, onkeydown: (e) => this.keys(e) }, this.tabs), this.attempts, this.panel);
  }

  keys(e) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const to = this.tabs[(this.tabs.indexOf(document.activeElement) + step + this.tabs.length) % this.tabs.length];
    to.focus();
    to.click();
  }

  /** `version` changes when the iteration has: what was loaded before is stale then. */
  async show(tab, view, zone, version) {
    for (const button of this.tabs) {
      const chosen = button.dataset.tab === tab;
      attr(button, 'aria-selected', chosen);
      attr(button, 'tabindex', chosen ? 0 : -1);
    }
    attr(this.panel, 'aria-labelledby', `${this.id}-${tab}`);
    this.choose(tab, view);
    const key = `${tab} ${tab === 'activity' ? this.attempt : ''} ${version}`;
    if (this.shown === key) return;
    const other = this.shown?.split(' ')[0] !== tab;
    this.shown = key;
    if (other) this.panel.replaceChildren(nothing('Loading …'));
    let made;
    try { made = await this.load(tab, zone); } catch (error) { made = nothing(error.message); this.shown = null; }
    if (this.shown === key || this.shown == null) this.panel.replaceChildren(made);
  }

  load(tab, zone) {
    if (tab === 'changes') return get(`${this.path}/diff`).then(changes);
    if (tab === 'verification') return get(`${this.path}/verification`).then((found) => verification(found, zone));
    if (tab === 'prompt') return get(`${this.path}/prompt`).then(prompt);
    const path = `${this.path}/activity?attempt=${this.attempt}&`;
    return get(`${path}limit=${PAGE}`).then((page) => activity(page, path, zone));
  }

  /** Which of several calls the activity is of. */
  choose(tab, view) {
    const calls = view.attempts || 1;
    this.attempt ??= calls;
    this.attempts.hidden = tab !== 'activity' || calls < 2;
    if (this.attempts.hidden || this.attempts.childElementCount === calls) return;
    this.attempts.replaceChildren(...Array.from({ length: calls }, (_, i) => i + 1).map((n) => h('button', { class: 'btn', type: 'button', 'aria-pressed': n === this.attempt, onclick: (e) => {
      this.attempt = n;
      for (const other of this.attempts.children) attr(other, 'aria-pressed', other === e.target);
      this.again?.();
    } }, `Call ${n}`)));
  }
}

/** One iteration in the list. */
class Item {
  constructor(run, n, go) {
    this.go = go;
    this.n = n;
    this.run = run;
    this.line = part(({ view, ladder }) => h('span', { class: 'why' }, mark(TONE[view.outcome] || (view.outcome === 'nothing_new' ? 'quiet' : 'open'), WORDS[view.outcome]), ...ticks(view.why || WORDS[view.outcome]),
      ladder && view.who ? h('small', {}, quoted('span', {}, view.who)) : null,
      view.failure ? h('small', {}, quoted('span', {}, view.failure)) : null));
    this.figures = h('span', { class: 'f' });
    this.button = h('button', { type: 'button', 'aria-expanded': 'false', onclick: () => go(this.open ? null : n) }, h('span', { class: 'n' }, String(n)));
    this.node = h('li', { class: 'it', 'data-n': n }, h('h4', {}, this.button));
  }

  update(view, ladder, open, tab, zone) {
    const line = this.line({ view, ladder });
    if (!line.parentNode) this.button.append(line, this.figures);
    // How long it took and what it changed is known once it is over.
    const over = view.outcome === 'under_way' ? '' : `|${took(view.ms)}|${counted(view.files, 'file')}`;
    const figures = `${barCost(view)}${over}`;
    if (figures !== this.said) { this.figures.replaceChildren(...figures.split('|').map((text) => h('span', {}, text))); this.said = figures; }
    this.open = open;
    attr(this.button, 'aria-expanded', open);
    if (!open) { this.body?.node.remove(); this.body = null; return; }
    if (!this.body) { this.body = new Body(this.run, this.n, this.go); this.node.append(this.body.node); }
    const version = `${view.outcome}${view.files}${view.verified}`;
    this.body.again = () => this.body?.show('activity', view, zone, version);
    this.body.show(tab, view, zone, version);
  }
}

export class Iterations {
  constructor(run, go) {
    this.run = run;
    this.go = go;
    this.items = new Map();
    this.title = h('h3', {}, 'Iterations');
    this.list = h('ol', {});
    this.rest = h('p', { class: 'lead', hidden: true });
    this.node = h('section', { class: 'its' }, this.title, this.list, this.rest);
  }

  update(views, { ladder, zone, open, tab, earlier }) {
    const order = [...views].sort((a, b) => b.n - a.n);
    this.node.hidden = order.length === 0;
    order.forEach((view, i) => {
      let item = this.items.get(view.n);
      if (!item) { item = new Item(this.run, view.n, this.go); this.items.set(view.n, item); }
      if (this.list.children[i] !== item.node) this.list.insertBefore(item.node, this.list.children[i] || null);
      item.update(view, ladder, view.n === open, tab, zone);
    });
    const numbers = new Set(order.map((view) => view.n));
    for (const [n, item] of this.items) if (!numbers.has(n)) { item.node.remove(); this.items.delete(n); }
    this.rest.hidden = !earlier;
    say(this.rest, earlier ? `${counted(earlier, 'earlier iteration')}: ralph logs shows them.` : '');
  }

  reveal(n) { this.items.get(n)?.node.scrollIntoView({ block: 'nearest' }); }
}
