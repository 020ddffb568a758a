// What the browser keeps of exercises: the code as it was left, what is solved, which exercises a page has. Pure.

export const KEY = "handbook-exercises";
export const ASIDE = "handbook-exercises-set-aside"; // what could not be read, until the reader has taken it
const FORM = 1;

export const nothing = () => ({form: FORM, code: {}, solved: [], pages: {}});

// {saved, damaged}: damaged is true for a text that is none of ours, or of another form.
export function readSaved(text) {
  if (text === null || text === undefined) return {saved: nothing(), damaged: false};
  const found = parse(text);
  return isOurs(found) ? {saved: found, damaged: false} : {saved: nothing(), damaged: true};
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isOurs(found) {
  return isPlain(found) && found.form === FORM && isPlain(found.code) && isPlain(found.pages) &&
    isTexts(found.solved) && isTexts(Object.values(found.code)) && Object.values(found.pages).every(isTexts);
}

const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");

export const withCode = (saved, name, code) => ({...saved, code: {...saved.code, [name]: code}});

export function withoutCode(saved, name) {
  const {[name]: _, ...code} = saved.code;
  return {...saved, code, solved: saved.solved.filter((one) => one !== name)};
}

export const withSolved = (saved, name) => ({...saved, solved: [...new Set([...saved.solved, name])]});

export const withPage = (saved, page, names) => ({...saved, pages: {...saved.pages, [page]: names}});

// {done, of} for a page, or null where nothing of it is solved.
export function progressOf(saved, page) {
  const names = saved.pages[page] ?? [];
  const done = names.filter((name) => saved.solved.includes(name)).length;
  return done ? {done, of: names.length} : null;
}

// The page as it is kept, wherever the book lies: the last two parts of its path, without the ending.
export const pageOf = (pathname) => pathname.split("/").slice(-2).join("/").replace(/\.html$/, "");
