// Live values. The gateway sends parts of the page as it would write them into it: each replaces the elements with its name.
const made = document.querySelector('#made');
// Not performance.now(): it stands still while the machine sleeps, and old values would look new afterwards.
const offset = Date.parse(made.dateTime) - Date.now();
const back = location.href.slice(document.baseURI.length).split('#')[0];
const token = document.querySelector('meta[name=csrf]').content;
const status = document.querySelector('#live');

/** How long ago a moment was. The gateway has the same rule: TimeText.age. */
function age(moment) {
  const minutes = Math.floor((offset + Date.now() - Date.parse(moment)) / 60000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ago`;
  return minutes < 2880 ? '1 day ago' : `${Math.floor(minutes / 1440)} days ago`;
}

function showAges() {
  for (const time of document.querySelectorAll('time[data-age]')) {
    const text = age(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Puts a part where its name stands, unless a person is typing or choosing there. Its forms get this session's token. */
function replace(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  const part = template.content.firstElementChild;
  if (!part) return;
  for (const input of part.querySelectorAll('input[name=csrf]')) input.value = token;
  for (const input of part.querySelectorAll('input[name=return]')) input.value = back;
  const places = [...document.querySelectorAll('[data-live]')].filter((old) => old.dataset.live === part.dataset.live);
  // What is new, such as the first value of a metric, has no place yet.
  if (!places.length) renew();
  for (const old of places) {
    if (old.outerHTML === part.outerHTML) continue;
    const active = old.contains(document.activeElement) ? document.activeElement : null;
    if (active?.matches('input, select')) continue;
    const open = [...old.querySelectorAll('details')].map((details) => details.open);
    const path = active && [...old.querySelectorAll('a, button, summary, [tabindex]')].indexOf(active);
    const fresh = part.cloneNode(true);
    fresh.querySelectorAll('details').forEach((details, index) => { details.open ||= open[index] ?? false; });
    old.replaceWith(fresh);
    if (active) fresh.querySelectorAll('a, button, summary, [tabindex]')[path]?.focus({ preventScroll: true });
  }
}

function show(isLive, text) {
  status.className = isLive ? 'on' : 'off';
  if (status.textContent !== text) status.textContent = text;
}

/** Loads the page again for what cannot be replaced in part, unless a person is typing; at most each two seconds. */
let renewal;
function renew() {
  renewal ??= setTimeout(() => {
    renewal = undefined;
    if (document.activeElement?.matches('input, select')) show(false, 'reload the page to see what has changed');
    else location.reload();
  }, Math.max(0, 2000 - performance.now()));
}

let source;
let since = made.dateTime;
function listen() {
  source = new EventSource(`events?${new URLSearchParams({ page: back, since })}`);
  source.addEventListener('open', () => show(true, 'live'));
  source.addEventListener('error', () => show(false, 'no connection: values are old'));
  source.addEventListener('part', (event) => {
    since = event.lastEventId || since;
    replace(event.data);
    showAges();
  });
  // Devices came or went, or the session has ended.
  source.addEventListener('reload', renew);
}

listen();
setInterval(showAges, 10000);
// A page in the background needs no stream, and one that is left neither; what came meanwhile follows.
document.addEventListener('visibilitychange', () => { source.close(); if (!document.hidden) { listen(); showAges(); } });
addEventListener('pagehide', () => source.close());
addEventListener('pageshow', (event) => { if (event.persisted) listen(); });
