// Lets axe-core look at what no page before this one had: the page is emptied of all else, judged, and filled again.
// Two things are known from page to page, each by a hash: the looks of texts, for the rules of colours, and the forms
// of parts, for the other rules. What looks alike has one contrast, and what is built alike and shown alike in the same
// place is judged alike.
(() => {
  // The rules of colours, and the texts that each of them looks at once a look is marked; and what scrolls, likewise.
  const COLOUR_RULES = {"color-contrast": "[data-look]", "link-in-text-block": "a[href][data-look]"};
  const MARKED = {...COLOUR_RULES, "scrollable-region-focusable": "[data-scrolls]"};
  const NO_COLOUR = "rgba(0, 0, 0, 0),none,1,none,normal";
  // Parts that may be emptied: no rule asks for their content, without a role. Others that such parts are looked for in.
  const PART = ["article", "aside", "dd", "dialog", "div", "dl", "dt", "figcaption", "figure", "footer", "form", "g"]
    .concat(["header", "li", "main", "nav", "ol", "p", "pre", "section", "td", "tr", "ul"])
    .map((tag) => `${tag}:not([role])`).join();
  const THROUGH = "[role=group], article, details, fieldset, main, section, svg, table, tbody, thead";
  // Elements that no rule but those of colours asks for, and that lend their content to the one around them.
  const PLAIN = /^(b|code|defs|em|g|i|m(frac|i|n|o|row|style|sub|subsup|sup|text)|path|rect|span|strong|text|use)$/i;
  const BARE = /^(class|clip-path|d|data-look|fill|height|id|stroke.*|style|transform|width|x|xlink:href|y)$/;
  // Attributes that no rule reads the value of, only whether there is one; the ids of fields and of cells are pointed to.
  const ANY = /^(alttext|clip-path|d|data-.*|fill|height|href|id|stroke.*|style|title|transform|width|x|xlink:href|y)$/;
  const POINTED = "button, input, meter, output, progress, select, td, textarea, th";
  const POINTERS = ["aria-controls", "aria-describedby", "aria-details", "aria-labelledby", "aria-owns"];
  const SERIOUS = ["serious", "critical"];
  // Rules that ask every element for what these alone can have.
  const NARROWED = {
    "avoid-inline-spacing": "[style*='important']",
    "label-content-name-mismatch": "[aria-label], [aria-labelledby]",
  };

  const selecting = (rules) => Object.entries(rules).map(([id, selector]) => ({id, selector}));
  const unmarked = axe._audit.rules.filter(({id}) => id in MARKED).map(({id, selector}) => ({id, selector}));
  axe.configure({noHtml: true, rules: selecting(NARROWED)});

  function hash(text) {
    let [one, other] = [1, 2];
    for (let i = 0; i < text.length; i++) {
      one = Math.imul(one ^ text.charCodeAt(i), 2654435761);
      other = Math.imul(other ^ text.charCodeAt(i), 1597334677);
    }
    return `${(one >>> 0).toString(36)}-${(other >>> 0).toString(36)}`;
  }

  function once(make) {
    const made = new Map();
    return (element) => {
      if (!made.has(element)) made.set(element, make(element));
      return made.get(element);
    };
  }

  // Marks a text of each look that is not known: its colours and letters, its parent's, and every background, blend and
  // shadow behind it.
  function markLooks(seen, found) {
    const behind = once((element) => {
      if (!element) return "";
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode].join();
      return own === NO_COLOUR ? behind(element.parentElement) : `${behind(element.parentElement)}/${own}`;
    });
    const letters = once((element) => {
      const s = getComputedStyle(element);
      return [s.color, s.fontSize, s.fontWeight, s.textDecorationLine, s.textShadow, s.position].join();
    });
    const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    const elements = new Set();
    while (texts.nextNode()) if (texts.currentNode.data.trim()) elements.add(texts.currentNode.parentElement);
    for (const element of elements) {
      if (!element.checkVisibility({checkVisibilityCSS: true})) continue;
      const key = hash([element.tagName, letters(element), letters(element.parentElement), behind(element)].join("|"));
      if (seen.has(key)) continue;
      seen.add(key);
      found.push(key);
      element.setAttribute("data-look", "");
    }
  }

  // As axe-core asks it: what is longer by a line or less is not moved.
  const scrolls = (element) => element.clientWidth > 0
    && (element.scrollWidth > element.clientWidth + 13 || element.scrollHeight > element.clientHeight + 13)
    && /auto|scroll/.test(getComputedStyle(element).overflow);

  // How an element is built, as far as rules ask: what it is and whether it is shown, and what kinds of such are in it.
  function formReader() {
    const targets = (value) => value.split(" ").map((id) => document.getElementById(id));
    const text = (elements) => [...elements].map((one) => one?.textContent.trim()).join("|");
    const shown = once((element) => element.checkVisibility({visibilityProperty: true}));
    const attribute = (element, {name, value}) => {
      if (POINTERS.includes(name)) return `${name}=${value} ${text(targets(value))}`;
      const isRead = !ANY.test(name) || !value || value.includes("important") || (name === "id" && element.matches(POINTED));
      return isRead ? `${name}=${value}` : name;
    };
    const tag = once((element) => [
      element.tagName, shown(element),
      ...[...element.attributes].filter(({name}) => name !== "data-look").map((one) => attribute(element, one)),
      text(element.labels ?? []), element.hasAttribute("aria-label") ? element.textContent : "",
      element.matches("[accesskey], iframe") && Math.random(), // these are compared with each other: each is new
    ].join());
    const isPlain = (element) => PLAIN.test(element.tagName) && shown(element)
      && [...element.attributes].every(({name, value}) => BARE.test(name) && !value.includes("important"));
    const form = once((element) => {
      const inside = [...element.childNodes].flatMap((node) =>
        node.nodeType === 1 ? form(node) : node.nodeType === 3 && node.data.trim() ? "text" : []);
      const kinds = element.tagName === "TR" ? inside : [...new Set(inside)];
      return isPlain(element) ? kinds : [hash(`${tag(element)}>${kinds}`)];
    });
    return {form, shown, tag, targets};
  }

  // Empties the parts whose form is known in their place, or every part when colours alone are looked at, unless there is
  // a marked text in it or what another element points to. Of what scrolls one of a kind is marked and left whole, for the
  // rule asks whether a key reaches it or what is in it. Gives what refills.
  function empty(seen, found, coloursAlone) {
    const {form, shown, tag, targets} = formReader(), emptied = [], kept = new Set();
    const pointed = POINTERS.flatMap((name) => [...document.querySelectorAll(`[${name}]`)].flatMap((element) =>
      targets(element.getAttribute(name))));
    const isNew = (key) => !seen.has(key) && (seen.add(key), found.push(key));
    const hasKeys = (element) => element.tabIndex >= 0 && shown(element) && !element.matches(":disabled, [inert] *");
    const scrolling = coloursAlone ? [] : [...document.body.querySelectorAll("*")].filter((element) => scrolls(element)
      && isNew(hash(["scrolls", element.tagName, element.className, element.role, element.tabIndex,
        [...element.querySelectorAll("*")].some(hasKeys)].join())));
    for (let element of [...document.querySelectorAll("[data-look]"), ...pointed, ...scrolling])
      for (; element; element = element.parentElement) kept.add(element);
    const lookIn = (element, place) => {
      for (const child of [...element.children]) {
        if (scrolling.includes(child)) continue;
        const part = child.matches(PART), isBare = coloursAlone || form(child).every((kind) => kind === "text");
        const isKnown = part && (isBare || !isNew(hash(`${place}>${form(child)}`)));
        if (isKnown && !kept.has(child)) emptied.push([child, [...child.childNodes]]);
        else if (part || child.matches(THROUGH))
          lookIn(child, coloursAlone || hash(`${place}>${child.tagName === "TABLE" ? form(child) : tag(child)}`));
      }
    };
    lookIn(document.body, "");
    for (const [element] of emptied) element.replaceChildren();
    for (const element of scrolling) element.setAttribute("data-scrolls", "");
    return () => emptied.forEach(([element, nodes]) => element.replaceChildren(...nodes));
  }

  // Lets what fades or moves be where it ends.
  function settle() {
    const running = document.getAnimations().filter(({playState}) => playState === "running");
    for (const one of running) one.finish();
    if (running.length) settle();
  }

  // Of the raw results of axe-core what is serious or worse, in a line each. A rule's findings are all as bad as it is.
  function reporter(results, options, done) {
    const why = ({any, all, none}) => [...any, ...all, ...none].map(({message}) => message).join("; ");
    done(results.filter(({impact}) => SERIOUS.includes(impact)).flatMap(({id, violations}) =>
      violations.map((one) => `${id}: ${one.node.selector} ${why(one)}`)));
  }

  // What axe-core calls serious or worse in an element.
  window.told = (inside, options = {}, leftOut = []) => {
    settle();
    const mild = axe._audit.rules.filter(({impact}) => !SERIOUS.includes(impact)).map(({id}) => id);
    const rules = Object.fromEntries([...mild, ...leftOut].map((id) => [id, {enabled: false}]));
    return axe.run(inside, {reporter, preload: false, rules, ...options});
  };

  // The same while the parts beside the element are empty.
  window.toldAlone = async (inside) => {
    const element = document.querySelector(inside);
    const beside = [...document.body.querySelectorAll(PART)].filter((part) =>
      !part.contains(element) && !element.contains(part));
    const emptied = beside.map((part) => [part, [...part.childNodes]]);
    for (const [part] of emptied) part.replaceChildren();
    try {
      return await told(inside);
    } finally {
      for (const [part, nodes] of emptied) part.replaceChildren(...nodes);
    }
  };

  // The same in what of the page is not known, and what that is.
  window.judge = async (known, coloursAlone) => {
    const seen = new Set(known), found = [];
    settle();
    markLooks(seen, found);
    const isAsBefore = !found.length;
    if (isAsBefore && coloursAlone) return [[], []];
    const refill = empty(seen, found, coloursAlone);
    axe.configure({rules: selecting(MARKED)});
    try {
      const options = coloursAlone ? {runOnly: Object.keys(COLOUR_RULES)} : {};
      return [await told("html", options, isAsBefore ? Object.keys(COLOUR_RULES) : []), found];
    } finally {
      refill();
      axe.configure({rules: unmarked});
      for (const mark of ["data-look", "data-scrolls"])
        for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
    }
  };
})();
