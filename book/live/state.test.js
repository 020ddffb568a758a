import assert from "node:assert/strict";
import {test} from "node:test";
import {
  begin, DAMAGED, isAtStart, isBusy, isStale, isWanted, next, placeOfValue, question, readAddress, textOfSlider, writeAddress,
} from "./state.js";

const START = {n_gpus: "128", law: "Hoffmann 2022"};
const TWO = [{id: "a", name: "days", start: START}, {id: "b", name: "days", start: START}];

const after = (state, ...events) => events.reduce(next, state);
const moved = (value, id = "a") => ({type: "moved", id, control: "n_gpus", value});
const unfolded = (question, folded = {}) => ({type: "unfolded", question, folded});
const answer = (settings) => ({inputs: {...settings, n_gpus: Number(settings.n_gpus)}, texts: settings, title: "t"});

// The state after its next question was sent, and that question.
function asked(state) {
  const sent = question(state);
  return [next(state, {type: "asked", question: sent}), sent];
}

const ready = after(begin(TWO), {type: "booting"}, {type: "ready"});

test("nothing is asked before a control is moved, nor before Python is ready", () => {
  assert.equal(question(ready), null);
  const early = next(begin(TWO), moved("256"));
  assert.equal(question(early), null);
  assert.ok(isWanted(early));
});

test("moves made while a question is under way merge into one question about the latest", () => {
  const [busy] = asked(next(ready, moved("129")));
  const moving = after(busy, moved("130"), moved("131"), moved("132"));
  assert.equal(question(moving), null);
  const seen = next(moving, {type: "answered", question: 1, answer: answer({...START, n_gpus: "129"})});
  assert.equal(question(seen), null); // what is folded away is still to come
  const freed = next(seen, unfolded(1));
  assert.deepEqual(question(freed).settings, {...START, n_gpus: "132"});
  assert.equal(question(freed).question, 2);
});

test("an answer shows the values that were asked about, in lib's own spelling", () => {
  const [busy, sent] = asked(next(ready, moved("1e3")));
  const reply = {inputs: {n_gpus: 1000, law: "Hoffmann 2022"}, texts: {n_gpus: "1000", law: "Hoffmann-2022"}};
  const answered = {type: "answered", question: sent.question, answer: reply};
  const {a} = after(busy, answered, unfolded(sent.question)).whatIfs;
  assert.deepEqual(a.shown, {n_gpus: "1000", law: "Hoffmann 2022"});
  assert.deepEqual(a.values, a.shown);
  assert.ok(!isStale(a) && !isAtStart(a));
});

test("a late answer is dropped", () => {
  const [busy, sent] = asked(next(ready, moved("256")));
  const ended = next(busy, {type: "failed", message: "ended"});
  assert.equal(next(ended, {type: "answered", question: sent.question, answer: answer(START)}), ended);
  assert.equal(next(ended, unfolded(sent.question)), ended);
  assert.equal(next(busy, {type: "refused", question: 99, message: "no"}), busy);
});

test("an answer is busy until what is folded away in it has come too", () => {
  const [busy, sent] = asked(next(ready, moved("256")));
  const seen = next(busy, {type: "answered", question: sent.question, answer: answer(sent.settings)});
  assert.ok(isBusy(seen, "a") && isStale(seen.whatIfs.a));
  const done = next(seen, unfolded(sent.question, {folds: {days: "<p>1</p>"}}));
  assert.ok(!isBusy(done, "a") && !isStale(done.whatIfs.a));
  assert.deepEqual(done.whatIfs.a.folded, {folds: {days: "<p>1</p>"}});
  const ended = next(seen, {type: "failed", message: "ended"});
  assert.ok(isWanted(ended));
  assert.ok(isWanted(after(ended, moved("512"), moved("256")))); // back at what is shown, which is not whole
});

test("a refusal names its control, keeps the last good answer, and goes with the next good one", () => {
  let [state, sent] = asked(next(ready, moved("256")));
  state = after(state, {type: "answered", question: sent.question, answer: answer(sent.settings)}, unfolded(sent.question));
  [state, sent] = asked(next(state, moved("-1")));
  state = next(state, {type: "refused", question: sent.question, message: "n_gpus = -1", control: "n_gpus"});
  assert.deepEqual(state.whatIfs.a.refusal, {message: "n_gpus = -1", control: "n_gpus"});
  assert.equal(state.whatIfs.a.shown.n_gpus, "256");
  assert.ok(isStale(state.whatIfs.a));
  [state, sent] = asked(next(state, moved("256")));
  state = next(state, {type: "answered", question: sent.question, answer: answer(sent.settings)});
  assert.equal(state.whatIfs.a.refusal, null);
});

test("a question lost with its worker is asked again after the next touch", () => {
  const [busy] = asked(next(ready, moved("256")));
  const stopped = next(busy, {type: "failed", message: "no answer"});
  assert.equal(stopped.engine.phase, "stopped");
  assert.equal(stopped.engine.message, "no answer");
  const again = after(stopped, {type: "touched"}, {type: "booting"}, {type: "ready"});
  assert.equal(question(again).settings.n_gpus, "256");
  assert.equal(next(stopped, moved("512")).engine.phase, "asleep");
});

test("a reset asks about the starting values, unless the page shows them already", () => {
  const untouched = after(ready, moved("256"), {type: "reset", id: "a"});
  assert.equal(question(untouched), null);
  const [busy, sent] = asked(next(ready, moved("256")));
  const reply = {type: "answered", question: sent.question, answer: answer(sent.settings)};
  const shown = after(busy, reply, unfolded(sent.question));
  assert.deepEqual(question(next(shown, {type: "reset", id: "a"})).settings, START);
  assert.deepEqual(question(after(busy, {type: "reset", id: "a"}, reply, unfolded(1))).settings, START);
});

test("two what-ifs of a page are answered in turn", () => {
  const [busy, first] = asked(after(ready, moved("1"), moved("2", "b")));
  assert.equal(first.id, "a");
  const freed = after(busy, {type: "answered", question: 1, answer: answer(first.settings)}, unfolded(1));
  assert.equal(question(freed).id, "b");
});

test("a link's values that lib refuses fall back to the starting values and say so", () => {
  const opened = next(ready, {type: "opened", id: "a", values: {...START, n_gpus: "0"}});
  const [busy, sent] = asked(opened);
  const {a} = next(busy, {type: "refused", question: sent.question, message: "n_gpus = 0", control: "n_gpus"}).whatIfs;
  assert.deepEqual(a.values, START);
  assert.equal(a.refusal, null);
  assert.ok(a.notice.startsWith(DAMAGED) && a.notice.includes("n_gpus = 0"));
  assert.ok(!a.wanted);
});

test("a moved value of one what-if leaves the other alone", () => {
  assert.deepEqual(next(ready, moved("256")).whatIfs.b, ready.whatIfs.b);
});

test("an unknown event is a mistake of ours", () => {
  assert.throws(() => next(ready, {type: "mvoed"}), /mvoed/);
});

// ---- The address

const KNOWN = [{key: "days", controls: {n_gpus: null, law: ["Hoffmann 2022", "A & B; c:d~e 50%"]}}];
const ODD = {n_gpus: "1,000 ~;:%=&+#", law: "A & B; c:d~e 50%"};

for (const values of [START, ODD, {...START, n_gpus: ""}, {...START, n_gpus: "½ → 語"}]) {
  test(`an address gives back what was put in: ${JSON.stringify(values)}`, () => {
    const search = writeAddress("?highlight=a+b", "days", values);
    assert.ok(search.startsWith("?highlight=a+b&days="));
    assert.deepEqual(readAddress(search, KNOWN), {values: {days: values}, damaged: []});
    assert.deepEqual(readAddress(new URL(search, "http://x").search, KNOWN).values.days, values);
  });
}

test("an address is written over, and cleared at the starting values", () => {
  const first = writeAddress("", "days", START);
  assert.equal(writeAddress(first, "days", START), first);
  assert.equal(writeAddress(first, "days", null), "");
  assert.equal(writeAddress("", "days", null), "");
  assert.equal(writeAddress("?x=1", "days", null), "?x=1");
});

test("an address that lost any of its end, or one letter, is called damaged", () => {
  const search = writeAddress("", "days", START);
  for (let end = "?days=".length; end < search.length; end++) {
    assert.deepEqual(readAddress(search.slice(0, end), KNOWN), {values: {}, damaged: ["days"]}, search.slice(0, end));
  }
  for (const other of [search.replace("128", "129"), search.replace("n_gpus", "m_gpus"), "?days=%E0%A4%A", "?days"]) {
    assert.deepEqual(readAddress(other, KNOWN).damaged, ["days"], other);
  }
});

test("an address of another edition is called damaged: a control more, less, or an option that is gone", () => {
  const {n_gpus, law} = START;
  for (const values of [{n_gpus}, {n_gpus, law, days: "14"}, {n_gpus, law: "Kaplan"}, {n_gpus, rule: law}]) {
    assert.deepEqual(readAddress(writeAddress("", "days", values), KNOWN), {values: {}, damaged: ["days"]});
  }
});

test("an address of a what-if that is gone is called damaged", () => {
  assert.deepEqual(readAddress(writeAddress("", "months", START), KNOWN), {values: {}, damaged: ["months"]});
});

test("other parameters of an address are left alone", () => {
  assert.deepEqual(readAddress("?q=search+word&highlight=%", KNOWN), {values: {}, damaged: []});
  assert.equal(writeAddress("?q=%", "days", null), "?q=%");
});

// ---- Sliders

test("a log slider steps in the exponent and writes three digits", () => {
  assert.equal(textOfSlider("22.337", {log: true, whole: false}), "2.17e22");
  assert.equal(textOfSlider("2.107", {log: true, whole: true}), "128");
  assert.equal(textOfSlider("0.17", {log: true, whole: true}), "1");
  assert.equal(textOfSlider("0.45", {log: false, whole: false}), "0.45");
  assert.equal(placeOfValue(1000, {log: true}), 3);
  assert.equal(placeOfValue(14, {log: false}), 14);
});

const tries = (code = "x = 1", id = "exercise-x") => ({type: "tried", id, name: "x", code});

test("a solution waits for Python, is run once, and its verdicts come one by one", () => {
  const early = next(begin([]), tries());
  assert.ok(isWanted(early));
  assert.equal(question(early), null);
  const [running, sent] = asked(after(early, {type: "booting"}, {type: "ready"}));
  assert.deepEqual(sent, {question: 1, id: "exercise-x", name: "x", code: "x = 1"});
  const again = next(running, tries("x = 2"));
  assert.equal(again, running);
  const one = next(running, {type: "verdict", question: 1, row: "<tr>", printed: "hi"});
  assert.deepEqual([one.attempts["exercise-x"].rows, one.attempts["exercise-x"].printed], [["<tr>"], "hi"]);
  const done = next(one, {type: "judged", question: 1, summary: "1 of 1", ok: true});
  assert.deepEqual([done.asked, done.attempts["exercise-x"].phase], [null, "judged"]);
  assert.ok(!isWanted(done));
});

test("a solution that was ended is not run again by itself, what-ifs are asked again", () => {
  const [running] = asked(after(begin(TWO), tries(), moved("9"), {type: "booting"}, {type: "ready"}));
  const ended = next(running, {type: "failed", message: "endless"});
  assert.deepEqual([ended.attempts["exercise-x"].phase, ended.attempts["exercise-x"].failure], ["failed", "endless"]);
  const back = after(ended, {type: "touched"}, {type: "booting"}, {type: "ready"});
  assert.equal(question(back).name, "days");
});

test("verdicts of a solution that was ended are dropped", () => {
  const [running] = asked(after(begin([]), tries(), {type: "booting"}, {type: "ready"}));
  const ended = next(running, {type: "failed", message: "endless"});
  assert.equal(next(ended, {type: "verdict", question: 1, row: "<tr>", printed: ""}), ended);
});

test("behind a solution that fails the next one and a moved control are not at fault, and go on", () => {
  const running = [tries(), tries("y = 1", "exercise-y")].reduce(next, ready);
  const ended = next(asked(running)[0], {type: "failed", message: "endless"});
  assert.equal(ended.attempts["exercise-x"].phase, "failed");
  assert.equal(ended.attempts["exercise-y"].phase, "waiting");
  assert.equal(ended.engine.phase, "asleep");
  assert.equal(question(next(ended, {type: "ready"})).id, "exercise-y");
  const [alone] = asked(after(ready, tries(), moved("9")));
  const moving = next(alone, {type: "failed", message: "endless"});
  assert.deepEqual([moving.engine.phase, moving.engine.message], ["asleep", ""]);
});
