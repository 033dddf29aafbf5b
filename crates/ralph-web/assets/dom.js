// Elements, marks and the words for numbers. Text reaches the page only as text nodes: whatever an agent printed stays text.

/** An element. Attributes `class`, `on…`, `style` (an object, set property by property as the policy demands) are special. */
export function h(tag, attrs, ...kids) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs || {})) {
    if (value == null || value === false) continue;
    if (name === 'class') element.className = value;
    else if (name === 'style') Object.assign(element.style, value);
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...kids.flat(Infinity).filter((kid) => kid != null && kid !== false && kid !== ''));
  return element;
}

export const $ = (id) => document.getElementById(id);

/** Sets an element's text, and touches nothing if it is the same. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function attr(element, name, value) {
  if (value == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Text by somebody else: its direction is its own, and its neighbours keep their places. */
export const quoted = (tag, attrs, text) => h(tag, { dir: 'auto', ...attrs, class: `q ${attrs?.class || ''}` }, ...ticks(text));

/** Text with the parts in backticks as code. */
export function ticks(text) {
  const parts = String(text ?? '').split('`');
  // An odd number of backticks quotes nothing.
  if (parts.length % 2 === 0) return [String(text)];
  return parts.map((part, i) => (i % 2 ? h('code', {}, part) : part)).filter((part) => part !== '');
}

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag, attrs, ...kids) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
  element.append(...kids);
  return element;
}

// Every tone has a shape of its own; colour comes third.
const SHAPES = {
  need: 'M8 1 15.5 14.5H.5zM7.1 6v4.2h1.8V6zm0 5.4v1.7h1.8v-1.7z',
  bad: 'M3.2 1.6 8 6.4l4.8-4.8 1.6 1.6L9.6 8l4.8 4.8-1.6 1.6L8 9.6l-4.8 4.8-1.6-1.6L6.4 8 1.6 3.2z',
  live: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 3.7a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z',
  good: 'M6.2 13.3.9 8l1.7-1.7 3.6 3.6 7.2-7.2 1.7 1.7z',
  wait: 'M8 .8a7.2 7.2 0 1 1 0 14.4A7.2 7.2 0 0 1 8 .8zm0 1.8a5.4 5.4 0 1 0 0 10.8A5.4 5.4 0 0 0 8 2.6zm.9 1.6v3.4l2.5 1.5-.9 1.5-3.4-2V4.2z',
  quiet: 'M2 6.8h12v2.4H2z',
  open: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zm0 1.6a3.9 3.9 0 1 0 0 7.8 3.9 3.9 0 0 0 0-7.8z',
};

/** The mark of a tone; with a label where no word stands beside it. */
export function mark(tone, label) {
  const shape = svg('svg', { viewBox: '0 0 16 16' }, svg('path', { d: SHAPES[tone] || SHAPES.open, fill: 'currentColor', 'fill-rule': 'evenodd' }));
  if (label) { shape.setAttribute('role', 'img'); shape.setAttribute('aria-label', label); } else shape.setAttribute('aria-hidden', 'true');
  return h('span', { class: `mark s-${tone}` }, shape);
}

/** `$0.31`, `$0.031` below ten cents; `~` where a part is unknown. */
export function money(micro, complete = true) {
  const usd = (micro || 0) / 1e6;
  const text = usd !== 0 && Math.abs(usd) < 0.1 ? usd.toFixed(3) : usd.toFixed(2);
  return `${complete ? '' : '~'}$${text}`;
}
export const dollars = (usd) => money((usd || 0) * 1e6);

/** `4s`, `3m05s`, `1h02m`. */
export function span(ms) {
  const s = Math.max(0, Math.floor((ms || 0) / 1000));
  const two = (n) => String(n).padStart(2, '0');
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  return `${Math.floor(s / 3600)}h${two(Math.floor(s / 60) % 60)}m`;
}

/** How long something took: `0.4s`, then as above. */
export const took = (ms) => (ms < 10_000 ? `${(Math.max(0, ms || 0) / 1000).toFixed(1)}s` : span(ms));

/** `just now`, `5m ago`. */
export function ago(ms) {
  if (ms < 6e4) return 'just now';
  if (ms < 36e5) return `${Math.floor(ms / 6e4)}m ago`;
  if (ms < 1728e5) return `${Math.floor(ms / 36e5)}h ago`;
  return `${Math.floor(ms / 864e5)}d ago`;
}

const clocks = new Map();
/** The time of day in a zone. */
export function clock(at, zone, withSeconds = true) {
  if (at == null) return '';
  const key = `${zone}${withSeconds}`;
  if (!clocks.has(key)) {
    const parts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(withSeconds && { second: '2-digit' }) };
    let format;
    try { format = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zone || undefined }); } catch { format = new Intl.DateTimeFormat('en-GB', parts); }
    clocks.set(key, format);
  }
  return clocks.get(key).format(at);
}

/** As a sentence begins; a file's name stays as it is written. */
export const capital = (text) => (/^[a-z]+( |$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);
export const counted = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;

/** A meter: how much of a limit is used, what is held for calls under way, where a warning begins. */
export function meter(used, limit, warnAt, held) {
  const share = (n) => (limit > 0 ? Math.min(Math.max(n / limit, 0), 1) : 0);
  const full = limit > 0 && used >= limit;
  const near = !full && warnAt != null && used >= warnAt;
  const at = share(used);
  return h('div', { class: `meter${full ? ' full' : near ? ' near' : ''}`, role: 'img', 'aria-label': `${Math.round(at * 100)} % used` },
    h('i', { style: { width: `${at * 100}%` } }),
    held ? h('s', { style: { left: `${at * 100}%`, width: `${Math.min(share(held), 1 - at) * 100}%` } }) : null,
    warnAt != null && warnAt < limit ? h('u', { style: { left: `${share(warnAt) * 100}%` } }) : null);
}

/** A command with a button that copies it; without the permission to, the text is selected. */
export function command(text, what) {
  const code = h('code', {}, text);
  const button = h('button', { type: 'button', 'aria-label': `Copy ${text}` }, 'copy');
  button.addEventListener('click', async () => {
    let done = 'copied';
    try { await navigator.clipboard.writeText(text); } catch {
      getSelection().selectAllChildren(code);
      done = 'selected';
    }
    button.textContent = done;
    setTimeout(() => { button.textContent = 'copy'; }, 2000);
  });
  return h('span', { class: 'cmdline' }, h('span', { class: 'cmd' }, code, button), what ? h('small', {}, what) : null);
}

/** Puts `fresh` in the place of `old`; the focus stays with whatever has the same `data-key`. */
export function swap(old, fresh) {
  const key = old.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  old.replaceWith(fresh);
  if (key) [...fresh.querySelectorAll('[data-key]')].find((element) => element.dataset.key === key)?.focus({ preventScroll: true });
  return fresh;
}

/** A part of the page that is made anew only if what it shows has changed. */
export function part(make) {
  let shown = null;
  let node = null;
  return (data) => {
    const key = JSON.stringify(data) ?? '';
    if (node && key === shown) return node;
    const fresh = make(data) || h('span', { hidden: true });
    node = node?.parentNode ? swap(node, fresh) : fresh;
    shown = key;
    return node;
  };
}

/** A dialog that asks; resolves with what was given, or null. */
export function ask({ title, text, field, yes, tone }) {
  return new Promise((resolve) => {
    const input = field ? h('textarea', { id: 'ask-field', rows: 4, maxlength: 8000, 'aria-label': title, required: true }) : null;
    const dialog = h('dialog', { 'aria-labelledby': 'ask-title' },
      h('form', { method: 'dialog' },
        h('h2', { id: 'ask-title' }, title), text ? h('p', {}, ...ticks(text)) : null, input,
        h('div', { class: 'acts' },
          h('button', { class: 'btn', type: 'button', onclick: () => dialog.close('') }, 'Cancel'),
          h('button', { class: `btn go${tone ? ` ${tone}` : ''}`, type: 'submit', value: 'yes' }, yes))));
    dialog.addEventListener('close', () => {
      const answer = dialog.returnValue === 'yes' ? (input ? input.value.trim() : true) : null;
      dialog.remove();
      resolve(answer || null);
    });
    input?.addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) dialog.querySelector('[type=submit]').click(); });
    document.body.append(dialog);
    dialog.showModal();
    input?.focus();
  });
}
