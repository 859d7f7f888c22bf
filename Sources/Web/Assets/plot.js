// The reading under the pointer, or beside the cursor that the arrow keys move. The plots say their values in attributes: PlotData.
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const stages = { awake: 'awake', rem: 'REM', light: 'light', deep: 'deep', asleep: 'asleep', in_bed: 'in bed' };
const items = (text) => (text ?? '').split(' ').filter(Boolean).map((item) => item.split(','));
const number = (text) => Number(text).toLocaleString('en', { maximumFractionDigits: 2 });

/** Local times of a plot, by its offsets: minutes from its first moment to a text as exact as the plot. */
function clock(data) {
  const offsets = items(data.offsets).map((item) => item.map(Number));
  const two = (value) => String(value).padStart(2, '0');
  return (minutes, period = data.period) => {
    const offset = offsets.findLast((item) => item[1] <= minutes) ?? offsets[0];
    const time = new Date((Number(data.from) + minutes * 60 + offset[0]) * 1000);
    const hour = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`;
    const day = `${days[time.getUTCDay()]} ${time.getUTCDate()} ${months[time.getUTCMonth()]}`;
    return { day: hour, week: `${day}, ${hour}`, month: `${day}, ${hour}`, year: day, date: day, whole: months[time.getUTCMonth()] }[period];
  };
}

/** The readings of a plot, ascending: where each is, in minutes, from when to when it counts, and its text. */
function read(data) {
  const time = clock(data);
  const unit = data.unit ? ` ${data.unit}` : '';
  if (data.plot === 'line') {
    const reach = Number(data.bridge) / 2;
    return items(data.points).map(([at, mean, low, high]) => ({
      at: Number(at), from: at - reach, to: Number(at) + reach,
      text: `${time(Number(at))}: ${number(mean)}${unit}${low === undefined ? '' : ` (${number(low)} to ${number(high)})`}`,
    }));
  }
  if (data.plot === 'ranges') {
    return items(data.ranges).map(([at, high, low]) => ({
      at: Number(at), from: -Infinity, to: Infinity, text: `${time(Number(at))}: ${number(high)}/${number(low)}${unit}`,
    }));
  }
  const spans = (list, text) => list.map((item) => {
    const [from, to] = [Number(item[0]), Number(item[1])];
    return { at: (from + to) / 2, from, to, text: text(item, from, to) };
  });
  if (data.plot === 'bars') {
    const name = { day: 'day', week: 'date', month: 'date', year: 'whole' }[data.period];
    return spans(items(data.bars), ([, , total, partial], from) =>
      `${time(from, name)}: ${total === '' ? 'no values' : `${number(total)}${unit}`}${partial ? ' until now' : ''}`);
  }
  if (data.plot === 'night') {
    return spans(items(data.stages), ([, , stage], from, to) => `${time(from, 'day')} to ${time(to, 'day')}: ${stages[stage] ?? stage}`);
  }
  return [];
}

/** Lets a drawing say its readings. The style sheet shows one of its layouts. */
function equip(drawing) {
  const plots = [...drawing.querySelectorAll('svg[data-plot]')].map((svg) => ({ svg, readings: read(svg.dataset) }));
  if (!plots.some((plot) => plot.readings.length)) return;
  const shown = () => plots.find((plot) => plot.svg.getBoundingClientRect().width > 0) ?? plots[0];
  const output = document.createElement('output');
  const cursor = document.createElement('span');
  output.className = 'reading';
  cursor.className = 'cursor';
  let index = -1;

  const place = ({ svg }) => {
    const box = svg.getBoundingClientRect();
    const [left, right] = svg.dataset.area.split(' ').map(Number);
    return { box, scale: box.width / svg.viewBox.baseVal.width, left, right, minutes: (svg.dataset.to - svg.dataset.from) / 60 };
  };
  const show = (next) => {
    const plot = shown();
    if (!plot.readings.length) return;
    index = Math.max(0, Math.min(plot.readings.length - 1, next));
    const { box, scale, left, right, minutes } = place(plot);
    const reading = plot.readings[index];
    const x = (left + (right - left) * Math.max(0, Math.min(1, reading.at / minutes))) * scale + box.left - drawing.getBoundingClientRect().left;
    cursor.style.left = `${x}px`;
    output.textContent = reading.text;
    if (!cursor.isConnected) drawing.append(cursor, output);
  };
  const hide = () => { cursor.remove(); output.remove(); };

  drawing.addEventListener('pointermove', (event) => {
    const plot = shown();
    const { box, scale, left, right, minutes } = place(plot);
    const at = ((event.clientX - box.left) / scale - left) / (right - left) * minutes;
    // The reading that is nearest; they ascend.
    let [low, high] = [0, plot.readings.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (plot.readings[middle].at < at) low = middle + 1; else high = middle;
    }
    if (low > 0 && at - plot.readings[low - 1].at < plot.readings[low].at - at) low -= 1;
    const reading = plot.readings[low];
    if (reading && at >= reading.from && at <= reading.to) show(low); else hide();
  });
  drawing.addEventListener('pointerleave', hide);
  drawing.tabIndex = 0;
  drawing.setAttribute('role', 'group');
  drawing.setAttribute('aria-label', 'Drawing: the arrow keys say its values');
  drawing.addEventListener('blur', hide);
  drawing.addEventListener('keydown', (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    // From outside of the drawing the left arrow begins at its end.
    show(index < 0 && [-1, -10].includes(steps[event.key]) ? Infinity : index + steps[event.key]);
  });
}

const equipAll = () => { for (const drawing of document.querySelectorAll('.drawing:not([tabindex])')) equip(drawing); };
equipAll();
// Also those that are sent later.
new MutationObserver(equipAll).observe(document.querySelector('main'), { childList: true, subtree: true });
