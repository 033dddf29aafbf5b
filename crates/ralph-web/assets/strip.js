// The strip: one bar an iteration. Height is cost, fill is what came of it, dots are what is left, the line over it is the
// number of failing tests.
import { h, svg, money, took, counted, attr, say } from './dom.js';

export const WORDS = {
  worked: 'worked, not proven yet', nothing_new: 'brought nothing new', proven: 'proven', wrong: 'went wrong', stopped: 'stopped', under_way: 'under way',
};
const CARD_BARS = 14;
const FEW = 24; // up to so many, every slot has its number and its cost
const DOTS = 6; // of a long run
const UNDER_WAY = 14; // percent: low, and still seen to breathe

/** What a bar cost; `~` marks what is not wholly known. */
export const barCost = (bar) => money(bar.cost_micro, !bar.cost_unknown);

/** One bar in a sentence. */
export function barWords(bar) {
  const failing = bar.failing == null ? '' : `, ${counted(bar.failing, 'failing test')}`;
  const calls = bar.attempts > 1 ? `, ${bar.attempts} calls` : '';
  if (bar.outcome === 'under_way') return `Iteration ${bar.n}: ${WORDS.under_way}, ${barCost(bar)} so far${calls}`;
  return `Iteration ${bar.n}: ${WORDS[bar.outcome]}, ${barCost(bar)}, ${took(bar.ms)}, ${counted(bar.files, 'file')}${failing}${calls}`;
}

/** Bars of an older state with a newer one's put over them, by number. */
export function mergeBars(bars, newer, most) {
  const byNumber = new Map(bars.map((bar) => [bar.n, bar]));
  for (const bar of newer) byNumber.set(bar.n, bar);
  return [...byNumber.values()].sort((a, b) => a.n - b.n).slice(-most);
}

/** Failing tests, from before the run to now, each with the number of its iteration. */
function failing(strip) {
  const before = strip.earlier === 0 && strip.failing_before != null ? [{ n: 0, failing: strip.failing_before }] : [];
  return [...before, ...strip.bars.filter((bar) => bar.failing != null)];
}

const highest = (bars) => Math.max(1, ...bars.map((bar) => bar.cost_micro));

/** The small strip on a card. */
export function smallStrip(strip) {
  const bars = strip.bars.slice(-CARD_BARS);
  const most = highest(bars);
  const dots = Math.max(0, Math.min(strip.left, CARD_BARS - bars.length));
  const words = bars.map((bar) => `${bar.n}: ${WORDS[bar.outcome]}`).join(', ');
  const left = strip.left ? ` ${strip.left} left.` : '';
  return h('span', { class: 'strip', role: 'img', 'aria-label': bars.length ? `Iterations. ${words}.${left}` : 'No iteration yet.' },
    bars.map((bar) => h('i', { class: bar.outcome, style: { height: `${Math.max(4, Math.round(bar.cost_micro / most * 22))}px` } })),
    Array.from({ length: dots }, () => h('i', { class: 'left' })));
}

/** The strip of the open run. Bars are buttons; one of them is reached by Tab, the others by the arrow keys. */
export class BigStrip {
  constructor(open) {
    this.open = open;
    this.buttons = new Map();
    this.big = h('div', { class: 'big', role: 'group', 'aria-label': 'Iterations; the arrow keys go from one to the next', onkeydown: (e) => this.keys(e) });
    this.pins = h('div', { class: 'pins', 'aria-hidden': 'true' });
    this.ticks = h('div', { class: 'ticks', 'aria-hidden': 'true' });
    this.chart = h('div', { class: 'chart' }, this.big, this.pins);
    this.scroller = h('div', { class: 'scroller' }, h('div', { class: 'wide' }, this.chart, this.ticks));
    this.key = h('div', { class: 'key' });
    this.words = h('p', { class: 'sr' });
    this.node = h('section', { class: 'bigwrap', 'aria-label': 'Strip' }, this.scroller, this.key, this.words);
    this.drawn = '';
  }

  update(strip, pressed) {
    this.node.hidden = strip.bars.length === 0 && strip.left === 0;
    const atEnd = this.scroller.scrollLeft + this.scroller.clientWidth > this.scroller.scrollWidth - 30;
    const slots = this.slots(strip);
    const long = slots > FEW;
    this.node.classList.toggle('long', long);
    this.scroller.firstChild.style.minWidth = long ? `${slots * 27}px` : '';
    this.bars(strip, pressed, slots);
    const key = JSON.stringify([strip, slots]);
    if (key === this.drawn) return;
    const first = this.drawn === '';
    this.drawn = key;
    this.line(strip, slots, long);
    this.numbers(strip, slots, long);
    this.legend(strip);
    if (long && (first || atEnd)) requestAnimationFrame(() => this.toEnd());
  }

  toEnd() {
    const last = this.big.querySelector('button:last-of-type');
    if (last) this.scroller.scrollLeft = Math.max(0, last.offsetLeft + 8 * 27 - this.scroller.clientWidth);
  }

  slots(strip) {
    const all = strip.bars.length + strip.left;
    const shown = all > FEW ? strip.bars.length + Math.min(strip.left, DOTS) : all;
    return Math.max(shown, 6);
  }

  bars(strip, pressed, slots) {
    const most = highest(strip.bars);
    const seen = new Set();
    for (const bar of strip.bars) {
      seen.add(bar.n);
      let button = this.buttons.get(bar.n);
      if (!button) {
        button = h('button', { type: 'button', 'data-n': bar.n, onclick: () => this.open(bar.n) }, h('i', {}));
        this.buttons.set(bar.n, button);
      }
      if (button.className !== bar.outcome) button.className = bar.outcome;
      attr(button, 'aria-label', barWords(bar));
      attr(button, 'title', barWords(bar));
      attr(button, 'aria-pressed', pressed === bar.n);
      button.firstChild.style.height = `${Math.max(bar.outcome === 'under_way' ? UNDER_WAY : 5, bar.cost_micro / most * 100)}%`;
    }
    for (const [n, button] of this.buttons) if (!seen.has(n)) { button.remove(); this.buttons.delete(n); }
    const tabbed = this.buttons.get(pressed) || this.buttons.get(strip.bars.at(-1)?.n);
    for (const button of this.buttons.values()) attr(button, 'tabindex', button === tabbed ? 0 : -1);
    this.fill(strip, slots);
  }

  /** Bars in order, then a dot for each iteration that is left, then room. */
  fill(strip, slots) {
    const bars = strip.bars.map((bar) => this.buttons.get(bar.n));
    bars.forEach((button, i) => { if (this.big.children[i] !== button) this.big.insertBefore(button, this.big.children[i] || null); });
    const rest = slots - bars.length;
    while (this.big.children.length > slots) this.big.lastChild.remove();
    while (this.big.children.length < slots) this.big.append(h('i', { 'aria-hidden': 'true' }));
    [...this.big.children].slice(bars.length).forEach((dot, i) => { dot.className = i < Math.min(strip.left, rest) ? 'left' : ''; });
  }

  line(strip, slots, long) {
    const points = failing(strip);
    const first = strip.bars[0]?.n ?? 1;
    const most = Math.max(1, ...points.map((point) => point.failing));
    const place = points.map((point) => [
      Math.max(point.n === 0 ? 0 : (point.n - first + 0.5) / slots * 100, 0.4), 100 - point.failing / most * 88, point.failing,
    ]);
    this.pins.replaceChildren();
    if (place.length < 2) return;
    this.pins.append(svg('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none' },
      svg('polyline', { points: place.map(([x, y]) => `${x},${y}`).join(' ') })));
    let said = null;
    let labelled = -9;
    place.forEach(([x, y, n], i) => {
      // In a long run only a change is worth a number, and only where there is room for it.
      const label = !long || (n !== said && i - labelled > 3 && i < place.length - 3) || i === place.length - 1;
      if (label) { said = n; labelled = i; }
      this.pins.append(h('span', { class: `dot${n === 0 ? ' zero' : ''}`, style: { left: `${x}%`, top: `${y}%` } }, label ? h('b', {}, String(n)) : null));
    });
  }

  numbers(strip, slots, long) {
    const last = strip.bars.at(-1)?.n ?? 0;
    const spans = strip.bars.map((bar) => {
      const shown = !long || bar.n % 5 === 0 || bar.n === last;
      return h('span', {}, shown ? h('b', {}, String(bar.n)) : null, long ? null : h('small', {}, barCost(bar)));
    });
    const rest = slots - strip.bars.length;
    const dots = Math.min(strip.left, rest);
    for (let i = 0; i < rest; i += 1) spans.push(h('span', {}, i === dots - 1 ? String(last + strip.left) : ''));
    this.ticks.replaceChildren(...spans);
  }

  legend(strip) {
    const present = Object.keys(WORDS).filter((outcome) => strip.bars.some((bar) => bar.outcome === outcome));
    const values = failing(strip).map((point) => point.failing);
    const earlier = strip.earlier ? `the latest ${strip.bars.length} of ${strip.earlier + strip.bars.length}, ` : '';
    const left = strip.left ? `, ${strip.left} left` : '';
    this.key.replaceChildren(
      ...present.map((outcome) => h('span', {}, h('i', { class: outcome }), WORDS[outcome])),
      ...(values.length > 1 ? [h('span', {}, h('i', { class: 'ln' }), 'failing tests')] : []),
      h('span', {}, `${earlier}height: cost${left}`));
    say(this.words, values.length ? `Failing tests: ${values.join(', then ')}.` : '');
  }

  keys(e) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    const buttons = [...this.big.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    const to = e.key === 'Home' ? 0 : e.key === 'End' ? buttons.length - 1 : step ? at + step : null;
    if (to == null || at < 0 || !buttons[to]) return;
    e.preventDefault();
    buttons[to].focus();
  }
}
