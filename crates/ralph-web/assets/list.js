// All runs: the sentence, the search, the groups with their cards. Nothing moves under a finger: while the pointer or the
// keyboard is in the list, cards change where they are, and a button says how many have another place by now.
import { h, say, attr, mark, money, span, ago, quoted, ticks, swap } from './dom.js';
import { smallStrip } from './strip.js';

export const GROUPS = [['needs_you', 'Needs you'], ['working', 'Working'], ['waiting', 'Waiting'], ['completed', 'Completed'], ['ended', 'Ended']];
const TOUCH_HOLDS_MS = 2000;

const newestFirst = (a, b) => b.started - a.started || (a.id < b.id ? 1 : -1);

/** How long a run has worked or waited, or how long ago it ended. */
function age(card, now) {
  if (card.group === 'working') return span(now - card.started);
  if (card.group === 'waiting') return span(now - card.updated);
  return ago(now - card.updated);
}

/** What a call costs that is not settled: what it has spent so far or, if nobody will settle it before a resume, what was reserved. */
const unsettled = (card) => (card.group === 'working' || card.group === 'waiting' ? card.live_micro : card.reserved_micro) || 0;

/** One card, which changes in place. */
class CardView {
  constructor(id, select) {
    this.mark = h('span', {});
    this.task = quoted('span', {}, '');
    this.line = quoted('span', { class: 'w' }, '');
    this.strip = h('span', {});
    this.where = h('span', { class: 'grow' });
    this.cost = h('span', {});
    this.button = h('button', { class: 'card', type: 'button', 'data-id': id, onclick: () => select(id) },
      h('span', { class: 't' }, this.mark, this.task), this.line, h('span', { class: 'm' }, this.strip, this.where, this.cost));
    this.node = h('li', {}, this.button);
  }

  update(card, now, selected) {
    const tone = `${card.tone} ${card.word}`;
    if (tone !== this.tone) { this.mark = swap(this.mark, mark(card.tone, card.word)); this.tone = tone; }
    say(this.task, card.task);
    say(this.line, (card.doing || card.line).replaceAll('`', ''));
    const strip = JSON.stringify(card.strip);
    if (strip !== this.bars) { this.strip = swap(this.strip, smallStrip(card.strip)); this.bars = strip; }
    say(this.where, `${card.name} · ${age(card, now)}`);
    say(this.cost, money(card.cost_micro + unsettled(card), card.cost_complete));
    attr(this.button, 'aria-current', selected ? 'true' : 'false');
  }
}

export class List {
  constructor(root, on) {
    this.on = on;
    this.cards = new Map();
    this.views = new Map();
    this.placed = new Map(); // id to the group it is shown in
    this.query = '';
    this.matches = null;
    this.pointerInside = false;
    this.touchedAt = 0;
    this.headline = h('h1', { 'aria-live': 'polite' });
    this.lead = h('p', { class: 'lead' });
    this.input = h('input', { id: 'find', type: 'search', placeholder: 'Find a run, repository, agent  ( / )', 'aria-label': 'Find a run', autocomplete: 'off', spellcheck: 'false', oninput: () => this.search(), onkeydown: (e) => this.searchKeys(e) });
    this.news = h('button', { class: 'news', type: 'button', hidden: true, onclick: () => this.arrange() });
    this.none = h('p', { class: 'lead', hidden: true }, 'No run matches.');
    this.groups = new Map(GROUPS.map(([name, title]) => [name, this.group(name, title)]));
    this.body = h('div', { class: 'groups' }, ...[...this.groups.values()].map((group) => group.node));
    this.older = h('button', { class: 'btn', type: 'button', hidden: true, onclick: () => this.on.older() }, 'Older runs');
    this.foot = h('div', { class: 'hist', hidden: true });
    this.top = h('div', { class: 'sum' }, this.headline, this.lead);
    root.replaceChildren(this.top, h('div', { class: 'find' }, this.input), this.news, this.none, this.body, this.older, this.foot);
    this.holds();
  }

  group(name, title) {
    const count = h('span', {});
    const list = h('ul', {});
    return { node: h('section', { class: 'group', hidden: true, 'aria-labelledby': `group-${name}` }, h('h2', { id: `group-${name}` }, title, ' ', count), list), count, list };
  }

  /** Notes whether somebody has a finger, a pointer or the keyboard in the list. */
  holds() {
    const settle = () => setTimeout(() => this.settle(), TOUCH_HOLDS_MS + 50);
    this.body.addEventListener('pointerenter', (e) => { if (e.pointerType === 'mouse') this.pointerInside = true; });
    this.body.addEventListener('pointerleave', () => { this.pointerInside = false; this.settle(); });
    this.body.addEventListener('pointerdown', (e) => { if (e.pointerType !== 'mouse') { this.touchedAt = Date.now(); settle(); } });
    this.body.addEventListener('touchmove', () => { this.touchedAt = Date.now(); settle(); }, { passive: true });
    this.body.addEventListener('focusout', () => setTimeout(() => this.settle(), 0));
  }

  held() {
    return this.pointerInside || Date.now() - this.touchedAt < TOUCH_HOLDS_MS || this.body.querySelector(':focus-visible') != null;
  }

  settle() { if (!this.held() && this.moved().length) this.arrange(); }

  sentence(overview) {
    say(this.headline, overview.headline);
    if (overview.lead !== this.led) { this.lead.replaceChildren(...ticks(overview.lead)); this.led = overview.lead; }
    this.older.hidden = !overview.more;
  }

  /** Shows these cards; `selected` is the open run. */
  update(cards, now, selected) {
    this.cards = cards;
    for (const [id, card] of cards) this.views.get(id)?.update(card, now, id === selected);
    for (const id of this.placed.keys()) if (!cards.has(id)) this.drop(id);
    this.now = now;
    this.selected = selected;
    if (this.placed.size === 0 || !this.held()) this.arrange();
    else this.tell();
  }

  tick(now) {
    this.now = now;
    for (const id of this.placed.keys()) this.views.get(id)?.update(this.cards.get(id), now, id === this.selected);
  }

  drop(id) {
    this.views.get(id)?.node.remove();
    this.views.delete(id);
    this.placed.delete(id);
  }

  /** The order the list would have now: ids by group. */
  order() {
    const wanted = new Map(GROUPS.map(([name]) => [name, []]));
    const shown = [...this.cards.values()].filter((card) => this.fits(card)).sort(newestFirst);
    for (const card of shown) (wanted.get(card.group) || wanted.get('ended')).push(card.id);
    return wanted;
  }

  moved() {
    const ids = [...this.order()].flatMap(([group, list]) => list.filter((id) => this.placed.get(id) !== group));
    return ids;
  }

  tell() {
    const moved = this.moved();
    const fresh = moved.filter((id) => !this.placed.has(id)).length;
    this.news.hidden = moved.length === 0;
    say(this.news, fresh === moved.length ? `${fresh} new: show` : `${moved.length} changed: show`);
  }

  /** Puts every card where it belongs. */
  arrange() {
    const focused = document.activeElement;
    for (const [name, ids] of this.order()) this.fill(name, ids);
    const shown = new Set([...this.order().values()].flat());
    for (const id of [...this.placed.keys()]) if (!shown.has(id)) this.drop(id);
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
    this.none.hidden = this.placed.size > 0 || this.cards.size === 0;
    this.tell();
  }

  fill(name, ids) {
    const group = this.groups.get(name);
    group.node.hidden = ids.length === 0;
    say(group.count, String(ids.length));
    ids.forEach((id, i) => {
      let view = this.views.get(id);
      if (!view) {
        view = new CardView(id, (chosen) => this.on.select(chosen));
        this.views.set(id, view);
        view.update(this.cards.get(id), this.now, id === this.selected);
      }
      if (group.list.children[i] !== view.node) group.list.insertBefore(view.node, group.list.children[i] || null);
      this.placed.set(id, name);
    });
  }

  fits(card) {
    if (!this.query) return true;
    if (this.matches?.has(card.id)) return true;
    const text = [card.task, card.name, card.agent, card.model, card.short, card.word, card.line].join(' ').toLowerCase();
    return this.query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  search() {
    this.query = this.input.value.trim();
    this.matches = null;
    this.arrange();
    this.on.find(this.query);
  }

  /** What the server found besides, for words that were typed. */
  found(query, ids) {
    if (query !== this.query) return;
    this.matches = new Set(ids);
    this.arrange();
  }

  searchKeys(e) {
    if (e.key === 'Escape') { e.stopPropagation(); this.input.value = ''; this.search(); this.input.blur(); }
    if (e.key === 'Enter' || e.key === 'ArrowDown') { e.preventDefault(); this.body.querySelector('.card')?.focus(); }
  }

  /** The run before or after the selected one. */
  next(step) {
    const ids = [...this.body.querySelectorAll('.card')].map((card) => card.dataset.id);
    const at = ids.indexOf(this.selected);
    return ids[at < 0 ? 0 : Math.max(0, Math.min(ids.length - 1, at + step))];
  }

  reveal(id) { this.views.get(id)?.button.scrollIntoView({ block: 'nearest' }); }
  focus(id) { this.views.get(id)?.button.focus(); }
}
