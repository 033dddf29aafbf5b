// The page: where it is (the address), what it knows (the overview, the open run), and the events that change both.
import { $, h, say, svg, attr, clock, span, money, meter, command, part, ticks } from './dom.js';
import { get, Stream, NotAllowed, Refused, token, tokenIn, keepToken, forgetToken } from './api.js';
import { List } from './list.js';
import { RunView } from './run.js';
import { TABS } from './iteration.js';
import { mergeBars } from './strip.js';
import { DAYS, smallHistory, historyPage } from './history.js';

const RUN_BARS = 100;
const HIDDEN_LOOK_MS = 60_000;
const RETRY_MS = 2000;
const NARROW = matchMedia('(max-width: 899.98px)');

const known = {
  overview: null, cards: new Map(), details: new Map(), stats: null,
  ahead: 0, // the server's clock less ours
  up: null, since: Date.now(), trouble: null,
};
let place = { view: 'list' };
let list = null;
let view = null;
let chosen = null; // the run shown at an address that names none

/** The server's time; without a connection, the time of what is shown: nothing grows older that nobody looks at. */
const now = () => (known.up === false ? known.since : Date.now()) + known.ahead;
const shownRun = () => place.run || (NARROW.matches || place.view === 'history' ? null : chosen);

/* ---- addresses ---- */

function readPlace() {
  const parts = location.hash.replace(/^#\/?/, '').split('/').map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  if (parts[0] === 'history') return { view: 'history' };
  if (parts[0] !== 'runs' || !parts[1]) return { view: 'list' };
  const n = parts[2] === 'iterations' ? Number.parseInt(parts[3], 10) : NaN;
  const tab = TABS.some(([name]) => name === parts[4]) ? parts[4] : 'changes';
  return { view: 'run', run: parts[1], ...(n > 0 && { iteration: n, tab }) };
}

function address({ run, iteration, tab }) {
  const base = run ? `#/runs/${encodeURIComponent(run)}` : '#/';
  return iteration ? `${base}/iterations/${iteration}/${tab || 'changes'}` : base;
}

function go(to, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', address(to));
  arrive();
}

/** A token in the address is kept for this tab and taken out of the address at once. */
function takeToken() {
  if (!location.hash.includes('token=')) return false;
  const { hash } = location;
  history.replaceState(null, '', `${location.pathname}#/`);
  const found = tokenIn(hash);
  if (found) keepToken(found);
  return Boolean(found);
}

/** Shows what the address names. */
function arrive() {
  place = readPlace();
  document.body.dataset.view = place.view;
  if (!known.overview) return;
  const run = shownRun();
  if (view?.id !== run) open(run);
  stream.watch(run);
  draw();
  if (place.view === 'history') showHistory();
  if (NARROW.matches && view?.scrolledFor !== location.hash) { if (!place.iteration) scrollTo(0, 0); if (view) view.scrolledFor = location.hash; }
}

/* ---- what is known ---- */

/** A card over the one that is known: bars are merged by number, and a card that is behind changes nothing. */
function merged(old, card, whole) {
  if (!old) return card;
  if (old.head > card.head) return old;
  const bars = whole ? card.strip.bars : mergeBars(old.strip.bars, card.strip.bars, RUN_BARS);
  const earlier = Math.max(0, (bars[0]?.n ?? 1) - 1);
  return { ...card, doing: card.group === 'working' ? old.doing : null, extra: card.extra ?? old.extra, strip: { ...card.strip, bars, earlier } };
}

function takeCard(card, whole) {
  known.cards.set(card.id, merged(known.cards.get(card.id), card, whole));
}

async function readOverview() {
  const asked = Date.now();
  const overview = await get('overview');
  known.ahead = overview.now - (asked + Date.now()) / 2;
  known.overview = overview;
  trouble(null);
  const before = known.cards;
  known.cards = new Map(overview.cards.map((card) => [card.id, merged(before.get(card.id), card, false)]));
  // Older runs that somebody asked for are not in it.
  for (const [id, card] of before) if (card.extra && !known.cards.has(id)) known.cards.set(id, card);
  chosen ??= overview.focus || overview.cards[0]?.id || null;
}

const reads = new Map();
/** The run in depth; asked for at most once at a time, and once more if it changed meanwhile. */
async function readDetail(id) {
  if (reads.has(id)) { reads.set(id, true); return; }
  reads.set(id, false);
  try {
    const detail = await get(`runs/${encodeURIComponent(id)}`);
    const whole = detail.card.id;
    known.details.set(whole, detail);
    takeCard({ ...detail.card, extra: known.cards.has(whole) ? undefined : true }, true);
    // An address may name a run by the last characters of its id.
    if (whole !== id && place.run === id) go({ ...place, run: whole }, { replace: true });
    for (const other of [...known.details.keys()].slice(0, -8)) known.details.delete(other);
    draw();
  } catch (error) { failed(error, id); }
  const again = reads.get(id);
  reads.delete(id);
  if (again) readDetail(id);
}

function failed(error, id) {
  if (error instanceof NotAllowed) { needToken('The token is not valid any more.'); return; }
  if (!(error instanceof Refused)) { down(); return; }
  if (error.status === 503) {
    trouble(error.message);
    if (known.overview) overviewSoon(RETRY_MS);
  }
  if (!id || id !== shownRun()) return;
  if (error.status === 404) insteadOfRun(`There is no run ${id}. It may have been pruned.`);
  if (error.code === 'unreadable_run') insteadOfRun(`This run cannot be shown: ${error.message}`);
}

function insteadOfRun(text) {
  $('main').replaceChildren(h('a', { class: 'back', href: '#/' }, '‹ All runs'), h('p', { class: 'lead' }, ...ticks(text)));
}

/** Why the database cannot be read, or null. */
function trouble(text) {
  if (known.trouble === text) return;
  known.trouble = text;
  connection();
}

let overviewTimer = null;
/** Reads the sentence, the counts and the day's cost again, soon, and seldom. */
function overviewSoon(ms) {
  overviewTimer ??= setTimeout(() => {
    overviewTimer = null;
    if (document.hidden) return;
    readOverview().then(draw, failed);
  }, ms);
}

let detailTimer = null;
function detailSoon(id) {
  detailTimer ??= setTimeout(() => { detailTimer = null; if (view?.id === id) readDetail(id); }, 250);
}

/* ---- events ---- */

const stream = new Stream({
  event(name, data) {
    if (name === 'run') changed(data);
    else if (name === 'activity') activity(data);
    else if (name === 'reset') readAll();
    else if (name === 'trouble') trouble(data.text || null);
  },
  up() { if (known.up === false) catchUp(); heard(); },
  alive: heard,
  down,
  denied() { needToken('The token is not valid any more.'); },
});

function heard() {
  known.since = Date.now();
  if (!known.up) { known.up = true; connection(); }
}

/** What events do not carry is read again: the sentence, the day's cost, the open run in depth. */
function catchUp() {
  overviewSoon(0);
  if (view) readDetail(view.id);
}

function down() {
  if (known.up !== false) { known.up = false; connection(); }
}

function changed(card) {
  const old = known.cards.get(card.id);
  takeCard(card, false);
  overviewSoon(!old || old.group !== card.group ? 100 : 2000);
  if (view?.id === card.id) detailSoon(card.id);
  drawSoon();
}

function activity(data) {
  const card = known.cards.get(data.run);
  if (!card) return;
  card.doing = data.doing?.text || null;
  card.live_micro = data.live_micro ?? card.live_micro;
  const last = card.strip.bars.at(-1);
  if (last?.outcome === 'under_way' && data.live_micro > last.cost_micro) {
    card.strip = { ...card.strip, bars: [...card.strip.bars.slice(0, -1), { ...last, cost_micro: data.live_micro }] };
  }
  if (view?.id === data.run) view.heard(data, known.details.get(data.run), now());
  drawSoon();
}

let frame = null;
function drawSoon() { frame ??= setTimeout(() => { frame = null; draw(); }, 60); }

/* ---- drawing ---- */

function open(id) {
  view = null;
  if (!id || place.view === 'history') { if (place.view !== 'history') $('main').replaceChildren(); return; }
  view = new RunView(id, {
    iteration: (n, tab, fromStrip) => {
      const same = n === place.iteration && !tab;
      go({ run: id, iteration: same && fromStrip ? null : n, tab }, { replace: Boolean(tab) });
    },
    changed: () => { overviewSoon(100); readDetail(id); },
    redraw: draw,
  });
  $('main').replaceChildren(view.node);
  readDetail(id);
}

const today = part((t) => (t ? h('div', { class: 'today' },
  h('span', {}, h('span', { class: 'l' }, 'today '), h('b', {}, money(t.spent_micro + t.held_micro, !t.held_micro)), t.cap_micro ? ` of ${money(t.cap_micro)}` : ''),
  t.cap_micro ? meter(t.spent_micro, t.cap_micro, t.cap_micro * 0.8, t.held_micro) : null) : h('div', {})));

function title() {
  const { needs_you: need = 0, working = 0 } = known.overview?.counts || {};
  const text = `${need ? `▲ ${need} · ` : working ? `● ${working} · ` : ''}ralph`;
  if (document.title !== text) document.title = text;
}

function draw() {
  if (!known.overview) return;
  title();
  const day = today(known.overview.today);
  if (!day.parentNode) $('today').replaceChildren(day);
  const empty = known.cards.size === 0;
  document.body.classList.toggle('is-empty', empty && place.view !== 'history');
  if (empty && place.view !== 'history') { drawEmpty(); return; }
  list ??= new List($('side'), { select: (run) => { go({ run }); if (NARROW.matches) view?.focus(); }, older, find });
  list.sentence({ ...known.overview, more: known.overview.more && !older.ended });
  list.update(known.cards, now(), shownRun());
  if (!performance.getEntriesByName('cards').length) performance.mark('cards');
  const card = view && known.cards.get(view.id);
  if (card) view.update({ card, detail: known.details.get(view.id), control: known.overview.control, now: now(), open: place.iteration, tab: place.tab || 'changes' });
  if (card && known.details.has(view.id) && view.revealed !== place.iteration) {
    // The address names it: it is brought into view once, and then left to whoever scrolls.
    view.revealed = place.iteration;
    if (place.iteration) view.reveal(place.iteration);
  }
  if (!view) document.body.classList.remove('has-acts');
}

function drawEmpty() {
  list = null;
  view = null;
  chosen = null;
  if ($('main').dataset.empty && $('main').querySelector('.empty')) return;
  $('main').dataset.empty = 'yes';
  $('side').replaceChildren();
  $('main').replaceChildren(h('div', { class: 'empty' }, h('h1', {}, 'Nothing has run yet.'),
    h('p', {}, 'A run shows up here the moment it starts, from any terminal and any repository. The demo takes ten seconds and needs no key.'), command('ralph demo')));
}

async function showHistory() {
  try {
    known.stats = await get(`stats?days=${DAYS}`);
    if (place.view === 'history') $('main').replaceChildren(historyPage(known.stats));
    smallChart();
  } catch (error) { failed(error); }
}

function smallChart() {
  if (!list || !known.stats) return;
  list.foot.hidden = false;
  list.foot.replaceChildren(...smallHistory(known.stats));
}

/** Older runs than the overview has, a page at a time. */
async function older() {
  try {
    const page = await get(`runs?limit=100${older.next ? `&before=${encodeURIComponent(older.next)}` : ''}`);
    older.next = page.next;
    older.ended = page.next == null;
    for (const card of page.runs) if (!known.cards.has(card.id)) takeCard({ ...card, extra: true }, true);
    draw();
  } catch (error) { failed(error); }
}

let findTimer = null;
/** Words are looked for here at once, and among all runs on the server. */
function find(text) {
  clearTimeout(findTimer);
  if (!text || !known.overview.more) return;
  findTimer = setTimeout(async () => {
    try {
      const page = await get(`runs?limit=100&text=${encodeURIComponent(text)}`);
      for (const card of page.runs) if (!known.cards.has(card.id)) takeCard({ ...card, extra: true }, true);
      list.cards = known.cards;
      list.found(text, page.runs.map((card) => card.id));
    } catch (error) { failed(error); }
  }, 200);
}

/* ---- the connection ---- */

const MESSAGE = { text: h('span', {}), age: h('span', { 'aria-live': 'off' }) };

/** Whether what is shown is current; if not, how old it is. */
function connection() {
  const off = known.up === false;
  document.body.classList.toggle('off', off);
  const conn = $('conn');
  attr(conn, 'class', `conn${off ? ' off' : ''}`);
  const word = known.up == null ? 'connecting' : off ? 'not connected' : 'live';
  if (conn.textContent !== word) conn.replaceChildren(h('i', { 'aria-hidden': 'true' }), h('span', {}, word));
  const gone = $('gone');
  if (!MESSAGE.text.parentNode) gone.append(MESSAGE.text, ' ', MESSAGE.age);
  gone.hidden = !off && !known.trouble;
  say(MESSAGE.text, off ? 'Not connected; it will catch up by itself.' : known.trouble || '');
  say(MESSAGE.age, off ? `This is how it stood at ${clock(known.since)}, ${span(Date.now() - known.since)} ago.` : '');
}

/** Reads everything again. */
async function readAll() {
  try {
    await readOverview();
  } catch (error) {
    failed(error);
    clearTimeout(readAll.timer);
    if (!(error instanceof NotAllowed)) readAll.timer = setTimeout(readAll, RETRY_MS);
    return;
  }
  known.since = Date.now();
  arrive();
  if (view) readDetail(view.id);
  stream.follow(known.overview.position, shownRun());
  if (!known.stats) get(`stats?days=${DAYS}`).then((stats) => { known.stats = stats; smallChart(); }, () => null);
}

/* ---- the token ---- */

function needToken(why) {
  stream.stop();
  forgetToken();
  known.overview = null;
  known.cards = new Map();
  list = null;
  view = null;
  document.body.dataset.view = 'run';
  document.body.classList.add('is-empty');
  document.body.classList.remove('off', 'has-acts');
  $('gone').hidden = true;
  $('conn').replaceChildren();
  $('today').replaceChildren();
  $('side').replaceChildren();
  const input = h('input', { id: 'token', type: 'password', autocomplete: 'off', 'aria-label': 'Token, or the whole address', placeholder: 'http://127.0.0.1:7257/#token=…' });
  const wrong = h('p', { class: 'answer', role: 'status' }, why || '');
  const form = h('form', { class: 'find', onsubmit: (e) => {
    e.preventDefault();
    const found = tokenIn(input.value);
    if (!found) { say(wrong, 'No token found in this text.'); return; }
    keepToken(found);
    start();
  } }, input, h('button', { class: 'btn go', type: 'submit' }, 'Open'));
  delete $('main').dataset.empty;
  $('main').replaceChildren(h('div', { class: 'empty' }, h('h1', {}, 'This page needs its token.'),
    h('p', {}, ...ticks('`ralph serve` prints an address with the token: open that address, or paste it here.')), form, wrong));
  input.focus();
}

/* ---- keys, theme, start ---- */

const KEYS = [['j, k', 'next, previous run'], ['Enter', 'open the run'], ['/', 'find a run'], ['←, →', 'go along the strip or the tabs'], ['Escape', 'back'], ['?', 'these keys']];

function help() {
  if (document.querySelector('dialog')) return;
  const dialog = h('dialog', { 'aria-labelledby': 'keys-title' }, h('h2', { id: 'keys-title' }, 'Keys'),
    h('dl', { class: 'keys' }, KEYS.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)))),
    h('form', { method: 'dialog', class: 'acts' }, h('button', { class: 'btn go' }, 'Close')));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function back() {
  if (place.iteration) go({ run: place.run });
  else if (place.view !== 'list') {
    const run = place.run;
    go({});
    list?.focus(run);
  }
}

function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog')) return;
  if (e.target.matches?.('input, textarea')) return;
  if (e.key === 'j' || e.key === 'k') {
    const run = list?.next(e.key === 'j' ? 1 : -1);
    if (!run) return;
    if (NARROW.matches && place.view === 'list') { list.focus(run); list.selected = run; return; }
    go({ run }, { replace: place.view === 'run' });
    list.reveal(run);
  } else if (e.key === '/') {
    if (NARROW.matches && place.view !== 'list') go({});
    e.preventDefault();
    list?.input.focus();
  } else if (e.key === 'Enter' && e.target === document.body && shownRun()) {
    go({ run: shownRun() });
    view?.focus();
  } else if (e.key === '?') help();
  else if (e.key === 'Escape') back();
}

const THEME = 'ralph-theme';
function theme() {
  const root = document.documentElement;
  try { const kept = localStorage.getItem(THEME); if (kept) root.dataset.theme = kept; } catch { /* not kept, then */ }
  $('theme').replaceChildren(svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, svg('path', { fill: 'currentColor', d: 'M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z' })));
  $('theme').addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { localStorage.setItem(THEME, root.dataset.theme); } catch { /* not kept, then */ }
  });
}

function start() {
  document.body.classList.remove('is-empty');
  $('main').replaceChildren();
  known.up = null;
  connection();
  if (token()) readAll(); else needToken();
}

function tick() {
  if (document.hidden || !known.overview) return;
  if (known.up === false) connection();
  list?.tick(now());
  const card = view && known.cards.get(view.id);
  if (card) view.tick(known.details.get(view.id), card, now());
}

theme();
takeToken();
$('help').addEventListener('click', help);
$('skip').addEventListener('click', (e) => { e.preventDefault(); $('main').focus(); });
addEventListener('keydown', keys);
addEventListener('hashchange', () => { if (takeToken()) start(); else arrive(); });
addEventListener('popstate', () => { if (!location.hash.includes('token=')) arrive(); });
NARROW.addEventListener('change', arrive);
document.addEventListener('visibilitychange', () => { if (!document.hidden && known.overview) catchUp(); });
setInterval(tick, 1000);
// A hidden page holds no stream; its title still says whether anybody is needed.
setInterval(() => { if (document.hidden && token()) readOverview().then(title, () => null); }, HIDDEN_LOOK_MS);
start();
