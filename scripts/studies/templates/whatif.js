"use strict";
// Predicted seconds on a machine of other numbers, from the `costs` of predicted solves; miniapp/prediction/seconds/ has the law.

const PARTS = ["compute", "ghosts", "all_reduces", "rest"];

// --- A machine's file, as keel prints it

function parse(toml) {
  const machine = {};
  let section = {};
  for (const line of toml.split("\n")) {
    const head = line.match(/^\[(.+)\]$/), pair = line.match(/^(\w+) = (.+)$/);
    if (head) section = machine[head[1]] = {};
    if (pair) section[pair[1]] = pair[2].startsWith("{")
      ? Object.fromEntries([...pair[2].matchAll(/(\w+) = ([^,} ]+)/g)].map(([, key, value]) => [key, Number(value)]))
      : Number(pair[2]);
  }
  return machine;
}

// The sliders' numbers of a machine; null where its file has none. Messages: of the protocol of the longest.
function numbersOf(toml) {
  const machine = parse(toml), off = Object.values(machine["host.off_node"] ?? {});
  const compute = machine.compute, noise = machine.noise ?? {};
  return {
    latency: off.length ? off[0].alpha : null,
    delay: noise.all_reduce ?? 0,
    network: off.length ? 1 / off[off.length - 1].beta : null,
    memory: compute.rate,
    launch: (machine.launch ?? compute).launch ?? 0,
  };
}

// The same file with other numbers. Latencies of all protocols between nodes grow by the same time, their seconds a byte and the
// node's by the same factor; overheads stay.
function withNumbers(toml, numbers) {
  const change = changeOf(toml, numbers), lines = [];
  let section = "";
  const replace = (line, key, value) => line.replace(new RegExp(`\\b${key} = ([^,} ]+)`), (_, old) => `${key} = ${value(Number(old))}`);
  const onDevice = "launch" in parse(toml);
  const missing = { compute: onDevice ? {} : { launch: numbers.launch }, noise: { all_reduce: numbers.delay } };
  const close = () => {
    for (const [key, value] of Object.entries(missing[section] ?? {})) if (value > 0) lines.splice(lines.findLastIndex((line) => line) + 1, 0, `${key} = ${value}`);
    delete missing[section];
  };
  for (let line of toml.split("\n")) {
    const head = line.match(/^\[(.+)\]$/), key = line.split(" = ")[0];
    if (head) { close(); section = head[1]; }
    if (section.endsWith(".off_node")) {
      line = replace(line, "alpha", (old) => old + change.latency);
      line = replace(line, "beta", (old) => old * (1 + change.bytes));
    }
    if (section === "machine" && key === "injection") line = replace(line, "beta", (old) => old * (1 + change.bytes));
    if (section === "compute" && key === "rate") line = `rate = ${numbers.memory}`;
    if (section === "launch" && key === "launch") line = `launch = ${numbers.launch}`;
    if (section === "noise" && key === "nonblocking_all_reduce") line = replace(line, key, (old) => old + change.delay);
    if (key in (missing[section] ?? {})) { line = `${key} = ${missing[section][key]}`; delete missing[section][key]; }
    lines.push(line);
  }
  close();
  if (missing.noise?.all_reduce > 0) lines.push("[noise]", `all_reduce = ${numbers.delay}`, "");
  return lines.join("\n");
}

function changeOf(toml, numbers) {
  const own = numbersOf(toml);
  return {
    latency: own.latency === null ? 0 : numbers.latency - own.latency,
    bytes: own.network === null ? 0 : own.network / numbers.network - 1,
    delay: numbers.delay - own.delay,
  };
}

// --- The law

// A GPU's launches, waits, replays and nodes cost seconds beside the bytes, elsewhere an operation takes at least a launch.
function workSeconds(event, machine, numbers) {
  const { launch } = machine;
  if (!launch) return computeSeconds(event.work, machine.compute, numbers, numbers.launch);
  const [launches, waits, replays, nodes] = event.device;
  const ofHost = launches * numbers.launch + waits * launch.wait + replays * launch.replay + nodes * launch.node;
  return ofHost + (event.block ? event.work[1] / launch.block : computeSeconds(event.work, machine.compute, numbers, 0));
}

function computeSeconds([calls, bytes, flops], compute, numbers, launch) {
  if (calls === 0) return 0;
  const cached = compute.cache && bytes <= calls * compute.cache.bytes;
  const flopSeconds = compute.flop_rate ? flops / compute.flop_rate : 0;
  return Math.max(bytes / (cached ? compute.cache.rate : numbers.memory), flopSeconds, calls * launch);
}

const waitSeconds = (tangents, change) => Math.max(...tangents.map(([seconds, latency, bytes]) => seconds + latency * change.latency + bytes * change.bytes));

// The events with their seconds on a machine.
function priced(costs, toml, numbers) {
  const machine = parse(toml), change = changeOf(toml, numbers);
  return costs.events.map((event) => {
    if (event.work) return { part: event.part, seconds: workSeconds(event, machine, numbers) };
    if (event.wait) return { part: event.part, waits: event.part === "ghosts", seconds: waitSeconds(event.wait, change) + event.delays * change.delay };
    if (event.rounds) return { begin: event.begin, rounds: event.rounds.map((round, n) => ({
      seconds: waitSeconds(round.wait, change) + (n === 0 ? change.delay : 0), busy: round.busy })) };
    return event;
  });
}

const flattened = (events) => events.flatMap((one) => (Array.isArray(one) ? Array(one[0]).fill(flattened(one[1])).flat() : [one]));

// Seconds by part of events that begin with no all-reduce in flight and end so: as Timeline in solve_time.cpp.
function replay(piece, events, byProgram, look) {
  const spent = Object.fromEntries(PARTS.map((part) => [part, 0]));
  const inFlight = new Map();
  let time = 0;
  const book = (part, seconds) => { spent[part] += seconds; time += seconds; };
  const post = (sum, now) => {
    if (sum.next === sum.rounds.length) return 0;
    const { seconds, busy } = sum.rounds[sum.next];
    sum.arrival = now + seconds - busy;
    return busy;
  };
  const take = (sum, now) => {
    const { busy } = sum.rounds[sum.next++];
    return busy + post(sum, now + busy);
  };
  const nextToArrive = () => {
    let next = null;
    for (const sum of inFlight.values()) if (sum.next < sum.rounds.length && (!next || sum.arrival < next.arrival)) next = sum;
    return next;
  };
  for (const number of piece) {
    const event = events[number];
    if (event.begin !== undefined) {
      const sum = { rounds: event.rounds, next: 0, arrival: 0 };
      inFlight.set(event.begin, sum);
      book("all_reduces", post(sum, time));
    } else if (event.finish !== undefined) {
      const awaited = inFlight.get(event.finish);
      let now = time;
      while (awaited.next < awaited.rounds.length) {
        const next = byProgram ? nextToArrive() : awaited;
        now = Math.max(now, next.arrival);
        now += take(next, now);
      }
      inFlight.delete(event.finish);
      book("all_reduces", now - time);
    } else if (event.progress) {
      if (!byProgram) continue;
      let now = time;
      for (const sum of inFlight.values())
        while (sum.next < sum.rounds.length) {
          now += 2 * look;
          if (sum.arrival > now) break;
          now += take(sum, now);
        }
      book("all_reduces", now - time);
    } else if (event.waits && byProgram) {
      let now = time;
      for (let next = nextToArrive(); next && next.arrival < time + event.seconds; next = nextToArrive()) {
        now = Math.max(now, next.arrival);
        now += take(next, now);
      }
      book(event.part, Math.max(now - time, event.seconds));
    } else {
      book(event.part, event.seconds);
    }
  }
  return spent;
}

// Seconds of a solve by part, and of all.
function solveSeconds(costs, toml, numbers) {
  const events = priced(costs, toml, numbers);
  const spent = Object.fromEntries(PARTS.map((part) => [part, 0]));
  for (const slice of costs.slices) {
    for (const [number, times] of slice.counts) spent[events[number].part] += slice.times * times * events[number].seconds;
    for (const piece of slice.pieces) {
      piece.flat ??= flattened(piece.events);
      const once = replay(piece.flat, events, costs.program_progresses, parse(toml).compute.look ?? 0);
      for (const part of PARTS) spent[part] += slice.times * piece.times * once[part];
    }
  }
  return { ...spent, seconds: PARTS.reduce((sum, part) => sum + spent[part], 0) };
}

// --- Who wins where

const winner = (solves, toml, numbers) => solves.map((solve) => ({ solver: solve.solver, ...solveSeconds(solve.costs, toml, numbers) }))
  .reduce((best, one) => (one.seconds < best.seconds ? one : best)).solver;

// The values of one number, all others unchanged, at which the fastest solver changes: [value, solver from there on].
function crossovers(solves, toml, numbers, key, valueAt, points = 60) {
  const at = (place) => winner(solves, toml, { ...numbers, [key]: valueAt(place) });
  const found = [];
  for (let n = 0, before = at(0); n < points; ++n) {
    const after = at((n + 1) / points);
    if (after !== before) {
      let low = n / points, high = (n + 1) / points;
      for (let step = 0; step < 10; ++step) {
        const middle = (low + high) / 2;
        if (at(middle) === before) low = middle; else high = middle;
      }
      found.push({ place: high, value: valueAt(high), solver: at(high) });
    }
    before = after;
  }
  return found;
}

// --- The page

function slidersOf(toml) {
  const own = numbersOf(toml), machine = parse(toml);
  const off = Object.values(machine["host.off_node"] ?? {});
  const least = own.latency - 0.9 * Math.min(...off.map((one) => one.alpha - (one.overhead ?? 0)));
  const fastest = machine.compute.cache?.rate ?? own.memory * 30;  // no memory is faster than its cache
  const between = (low, high) => ({ valueAt: (place) => low * (high / low) ** place, placeOf: (value) => Math.log(value / low) / Math.log(high / low) });
  const fromZero = (low, high) => {
    const rest = between(low, high);
    return { valueAt: (place) => (place < 0.01 ? 0 : rest.valueAt(place)), placeOf: (value) => (value <= low ? 0 : rest.placeOf(value)) };
  };
  return [
    { key: "latency", label: "latency between nodes, one way", unit: "us", scale: 1e-6, ...between(least, 1e-3) },
    { key: "delay", label: "delay of each all-reduce (noise)", unit: "us", scale: 1e-6, ...fromZero(1e-7, 1e-3) },
    { key: "network", label: "bandwidth between nodes", unit: "GB/s", scale: 1e9, ...between(own.network / 30, own.network * 30) },
    { key: "memory", label: "memory bandwidth of a rank", unit: "GB/s", scale: 1e9, ...between(own.memory / 30, fastest) },
    { key: "launch", label: "launch of an operation", unit: "us", scale: 1e-6, ...fromZero(1e-8, 1e-4) },
  ].filter(({ key }) => own[key] !== null);
}

const digits = (value) => Number(value.toPrecision(3)).toString();
const secondsText = (value) => (value < 1e-3 ? `${digits(value * 1e6)} us` : value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`);

function show() {
  const { machine, solves } = JSON.parse(document.getElementById("records").textContent);
  const sliders = slidersOf(machine), own = numbersOf(machine), numbers = { ...own };
  const get = (id) => document.getElementById(id);
  const made = (tag, attributes = {}, ...children) => {
    const one = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    one.append(...children);
    return one;
  };
  for (const slider of sliders) {
    slider.range = made("input", { type: "range", min: 0, max: 1000, id: slider.key });
    slider.number = made("input", { type: "number", step: "any", min: 0, "aria-label": `${slider.label}, ${slider.unit}` });
    slider.marks = made("div", { class: "marks", "aria-hidden": "true" });
    slider.where = made("p", { class: "note" });
    get("sliders").append(made("div", { class: "slider" }, made("label", { for: slider.key }, slider.label),
      made("div", { class: "track" }, slider.range, slider.marks), slider.number, made("span", {}, slider.unit), slider.where));
    const bounded = (value) => Math.min(Math.max(value, slider.valueAt(0)), slider.valueAt(1));
    slider.range.addEventListener("input", () => { numbers[slider.key] = slider.valueAt(slider.range.value / 1000); update(slider.range); });
    slider.number.addEventListener("change", () => {
      if (slider.number.value !== "") numbers[slider.key] = bounded(slider.number.value * slider.scale);
      update();
    });
  }
  let later;
  const update = (moved) => {
    for (const { key, range, number, scale, placeOf, unit, label } of sliders) {
      if (range !== moved) range.value = 1000 * placeOf(numbers[key]);
      number.value = digits(numbers[key] / scale);
      range.setAttribute("aria-valuetext", `${number.value} ${unit}`);
    }
    const times = solves.map((solve) => ({ solver: solve.solver, ...solveSeconds(solve.costs, machine, numbers) })).sort((a, b) => a.seconds - b.seconds);
    const longest = times[times.length - 1].seconds, [best, second] = times;
    get("bars").replaceChildren(...times.map((one) => made("div", { class: "bar" }, made("span", { class: "name" }, one.solver),
      made("span", { class: "whole" }, ...PARTS.map((part) => made("span", { class: part, title: `${part.replace("_", "-")}: ${secondsText(one[part])}`,
        style: `width: ${(100 * one[part]) / longest}%` }))), made("span", { class: "time" }, secondsText(one.seconds)))));
    const base = times.find(({ solver }) => solver === "cg") ?? times[times.length - 1];
    get("answer").textContent = times.length === 1 ? `${best.solver}: ${secondsText(best.seconds)} a solve.`
      : `${best.solver} is fastest: ${secondsText(best.seconds)} a solve` +
        ([best, second].includes(base) ? "" : `, ${(base.seconds / best.seconds).toFixed(2)} times as fast as ${base.solver}`) +
        `. Next: ${second.solver}, ${(100 * (second.seconds / best.seconds - 1)).toFixed(1)} % longer.`;
    get("toml").value = withNumbers(machine, numbers);
    clearTimeout(later);
    later = setTimeout(mark, 150);
  };
  const mark = () => {
    for (const { key, marks, where, valueAt, scale, unit } of sliders) {
      const found = crossovers(solves, machine, numbers, key, valueAt);
      const texts = found.map(({ value, solver }) => `from ${digits(value / scale)} ${unit}: ${solver}`);
      marks.replaceChildren(...found.map(({ place }, n) => made("span", { style: `left: ${100 * place}%`, title: texts[n] })));
      where.textContent = texts.length ? `Fastest ${texts.join("; ")}` : "The fastest solver stays so along this slider.";
    }
  };
  get("reset").addEventListener("click", () => { Object.assign(numbers, own); update(); });
  get("copy").addEventListener("click", async () => {
    get("toml").select();
    try { await navigator.clipboard.writeText(get("toml").value); } catch { document.execCommand("copy"); }
    get("copied").textContent = "copied";
  });
  update();
}

if (typeof document !== "undefined") show();
