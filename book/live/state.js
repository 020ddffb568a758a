// What the page knows, and what follows from an event. Pure: no page, no worker, no clock.
//
// engine.phase   asleep -> (ahead ->) booting -> ready, or stopped: ended, with a message, until the next touch
// whatIfs[id]    values   what the controls hold, as texts
//                shown    the values whose answer is on the page
//                answer   the last good answer (null: the still page's own, for the starting values)
//                folded   what is folded away in it, which comes after it
//                partial  that has not come yet: on the page it is still that of the answer before
//                wanted   the values still have to be asked about
//                refusal  {message, control} of the last question, or null
//                notice   a sentence about where the values came from, or ""
//                linked   the values came with the address and have no answer yet
// attempts[id]   of an exercise, from its first run: name and code, phase (waiting -> running -> judged, or failed),
//                rows and printed as they come, summary and ok at the end, or the failure

const UNTOUCHED = {
  answer: null, folded: null, partial: false, wanted: false, refusal: null, notice: "", linked: false,
};

export function begin(whatIfs) {
  const entries = whatIfs.map(({id, name, start}) => [id, {...UNTOUCHED, name, start, values: start, shown: start}]);
  return {
    engine: {phase: "asleep", loaded: 0, message: ""},
    lastQuestion: 0,
    asked: null,
    whatIfs: Object.fromEntries(entries),
    attempts: {},
  };
}

export function next(state, event) {
  switch (event.type) {
    case "moved":
      return ask(state, event.id, {...state.whatIfs[event.id].values, [event.control]: event.value});
    case "reset":
      return change(ask(state, event.id, state.whatIfs[event.id].start), event.id, {refusal: null});
    case "opened":
      return change(ask(state, event.id, event.values), event.id, {linked: true});
    case "noticed":
      return change(state, event.id, {notice: event.notice});
    case "touched":
      return woken(state);
    case "fetching":
      return engine(state, {phase: "ahead", loaded: 0});
    case "booting":
      return engine(state, {phase: "booting", message: ""});
    case "progress":
      return engine(state, {loaded: event.loaded});
    case "ready":
      return engine(state, {phase: "ready"});
    case "asked":
      return askedAbout(state, event.question);
    case "answered":
      return isCurrent(state, event) ? answered(state, event) : state;
    case "unfolded":
      return isCurrent(state, event) ? unfolded(state, event) : state;
    case "refused":
      return isCurrent(state, event) ? refused(state, event) : state;
    case "tried":
      return tried(state, event);
    case "verdict":
      return isCurrent(state, event) ? addVerdict(state, event) : state;
    case "judged":
      return isCurrent(state, event) ? judged(state, event) : state;
    case "failed":
      return failed(state, event.message);
    default:
      throw new Error(`unknown event: ${event.type}`);
  }
}

// The question to send now: one at a time, so that moves made in the meantime merge into the latest.
export function question(state) {
  if (state.engine.phase !== "ready" || state.asked) return null;
  const tried = Object.keys(state.attempts).find((key) => state.attempts[key].phase === "waiting");
  if (tried) return {question: state.lastQuestion + 1, id: tried, ...codeOf(state.attempts[tried])};
  const id = Object.keys(state.whatIfs).find((key) => state.whatIfs[key].wanted);
  if (!id) return null;
  const {name, values} = state.whatIfs[id];
  return {question: state.lastQuestion + 1, id, name, settings: values};
}

const codeOf = ({name, code}) => ({name, code});

export const isWanted = (state) =>
  Object.values(state.whatIfs).some((whatIf) => whatIf.wanted) || Object.values(state.attempts).some(isUnderWay);

const isUnderWay = ({phase}) => phase === "waiting" || phase === "running";

export const isTry = (asked) => asked?.code !== undefined;

export const isBusy = (state, id) =>
  state.engine.phase !== "stopped" && (state.whatIfs[id].wanted || state.asked?.id === id);

// True if a what-if looks the same in both states.
export const isSeenAlike = (a, b, id) =>
  a.whatIfs[id] === b.whatIfs[id] && a.engine === b.engine && isBusy(a, id) === isBusy(b, id);

export const isAtStart = (whatIf) => same(whatIf.shown, whatIf.start);

export const isStale = (whatIf) => whatIf.partial || !same(whatIf.shown, whatIf.values);

function ask(state, id, values) {
  const whatIf = state.whatIfs[id];
  const whole = state.asked?.id !== id && !whatIf.refusal && !whatIf.partial;
  const wanted = !whole || !same(values, whatIf.shown);
  return change(woken(state), id, {values, wanted, notice: "", linked: false});
}

const woken = (state) => (state.engine.phase === "stopped" ? engine(state, {phase: "asleep", message: ""}) : state);

function askedAbout(state, asked) {
  const sent = isTry(asked) ? attempt(state, asked.id, {phase: "running"}) : change(state, asked.id, {wanted: false});
  return {...sent, asked, lastQuestion: asked.question};
}

// A run while another is under way is left alone: its verdicts come first.
function tried(state, {id, name, code}) {
  if (state.attempts[id] && isUnderWay(state.attempts[id])) return state;
  const begun = {name, code, phase: "waiting", rows: [], printed: "", summary: "", ok: false, failure: ""};
  return attempt(woken(state), id, begun);
}

function addVerdict(state, {row, printed}) {
  const before = state.attempts[state.asked.id];
  const rows = row ? [...before.rows, row] : before.rows;
  return attempt(state, state.asked.id, {rows, printed: before.printed + printed});
}

const judged = (state, {summary, ok}) =>
  attempt({...state, asked: null}, state.asked.id, {phase: "judged", summary, ok});

const isCurrent = (state, event) => state.asked?.question === event.question;

function answered(state, {answer}) {
  const {id, settings} = state.asked;
  const shown = asWritten(settings, answer);
  const values = same(settings, state.whatIfs[id].values) ? shown : state.whatIfs[id].values;
  return change(state, id, {answer, partial: true, shown, values, refusal: null, linked: false});
}

// With what is folded away a question is done.
const unfolded = (state, {folded}) => change({...state, asked: null}, state.asked.id, {folded, partial: false});

// Numbers as `lib` writes them: "70B" for the slider's 70000000000, "14" for "2 weeks".
function asWritten(settings, {inputs, texts}) {
  const write = ([name, text]) => [name, typeof inputs[name] === "number" ? texts[name] : text];
  return Object.fromEntries(Object.entries(settings).map(write));
}

function refused(state, {message, control}) {
  const {id} = state.asked;
  const rest = {...state, asked: null};
  if (!state.whatIfs[id].linked) return change(rest, id, {refusal: {message, control}});
  const {start} = state.whatIfs[id];
  return change(ask(rest, id, start), id, {notice: `${DAMAGED} (${message})`});
}

// The question that was lost is asked again after the next touch; a solution is not run again by itself. Where a
// solution was what failed, what waits behind it is not at fault: it gets a fresh worker at once.
function failed(state, message) {
  if (isTry(state.asked)) return failedAlone(state, message);
  const lost = state.asked ? change(state, state.asked.id, {wanted: true}) : state;
  const ended = ([id, one]) => [id, isUnderWay(one) ? {...one, phase: "failed", failure: message} : one];
  const attempts = Object.fromEntries(Object.entries(state.attempts).map(ended));
  return engine({...lost, attempts, asked: null}, {phase: "stopped", loaded: 0, message});
}

function failedAlone(state, message) {
  const rest = attempt({...state, asked: null}, state.asked.id, {phase: "failed", failure: message});
  const ended = isWanted(rest) ? {phase: "asleep", message: ""} : {phase: "stopped", message};
  return engine(rest, {...ended, loaded: 0});
}

const attempt = (state, id, part) => ({
  ...state,
  attempts: {...state.attempts, [id]: {...state.attempts[id], ...part}},
});

const change = (state, id, part) => ({
  ...state,
  whatIfs: {...state.whatIfs, [id]: {...state.whatIfs[id], ...part}},
});

const engine = (state, part) => ({...state, engine: {...state.engine, ...part}});

function same(a, b) {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

// ---- The address: ?days-and-mfu=n_gpus:256;days:14~k3f9, one parameter a what-if.
//
// It holds every control, not only what was moved: starting values may change with an edition, and a link must
// never come to mean another scenario in silence. The letters after ~ are a checksum: a link that lost its end in a
// letter would otherwise read as other numbers.

export const DAMAGED = "The values in this address are damaged or from another edition: the starting values are shown.";

// `known` has one {key, controls} a what-if: under each control's name its options, or null for a number.
// Gives {values: {key: values}, damaged: [keys]}; a key of no what-if is damaged if it holds what one would.
export function readAddress(search, known) {
  const values = {};
  const damaged = [];
  for (const [key, text] of new URLSearchParams(search)) {
    const whatIf = known.find((one) => one.key === key);
    const read = readValues(key, text);
    if (whatIf && read && fits(read, whatIf.controls)) values[key] = read;
    else if (whatIf || read) damaged.push(key);
  }
  return {values, damaged};
}

// The query of an address in which one what-if has these values (null: its starting values); the rest stays.
export function writeAddress(search, key, values) {
  const others = search.replace(/^\?/, "").split("&").filter((part) => part && decode(part.split("=")[0]) !== key);
  const own = values ? [`${encodeURIComponent(key)}=${writeValues(key, values)}`] : [];
  const query = [...others, ...own].join("&");
  return query && `?${query}`;
}

function writeValues(key, values) {
  const body = Object.entries(values).map(([name, value]) => `${name}:${escaped(value)}`).join(";");
  const whole = `${body}~${checksum(key, body)}`;
  return encodeURIComponent(whole).replace(/%3A/g, ":").replace(/%3B/g, ";").replace(/%20/g, "+");
}

function readValues(key, text) {
  const [, body, sum] = text.match(/^(.*)~(\w+)$/s) ?? [];
  if (body === undefined || checksum(key, body) !== sum) return null;
  return Object.fromEntries(body.split(";").map((part) => part.split(":").map(decode)));
}

// The separators inside a value; what is left of the encoding is done once for the whole.
const escaped = (value) => value.replace(/[%:;~]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % of another page's parameter
  }
}

const fits = (values, controls) =>
  Object.keys(values).length === Object.keys(controls).length &&
  Object.entries(values).every(([name, text]) => name in controls && (controls[name]?.includes(text) ?? true));

// FNV-1a, 32 bits.
function checksum(key, body) {
  let hash = 0x811c9dc5;
  for (const letter of `${key}=${body}`) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(36);
}

// ---- Sliders: a second handle on a number's text. A log one steps in the exponent.

export function textOfSlider(place, {log, whole}) {
  if (!log) return place;
  const value = Number((10 ** place).toPrecision(3));
  return String(whole ? Math.round(value) : value).replace("e+", "e");
}

export const placeOfValue = (value, {log}) => (log ? Math.log10(value) : value);
