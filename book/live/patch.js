// Makes one element like another with as few changes as possible: focus, selection and open disclosures survive.

export function patch(old, fresh) {
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  after.forEach((node, i) => {
    if (!before[i]) old.append(node);
    else if (!alike(before[i], node)) before[i].replaceWith(node);
    else if (node.nodeType !== Node.ELEMENT_NODE) setText(before[i], node.data);
    else {
      patchAttributes(before[i], node);
      patch(before[i], node);
    }
  });
  before.slice(after.length).forEach((node) => node.remove());
}

export function patchHtml(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  patch(element, template.content);
}

const alike = (a, b) => a.nodeName === b.nodeName && a.dataset?.key === b.dataset?.key;

function setText(node, text) {
  if (node.data !== text) node.data = text;
}

// What is there and not in the new one is removed, but for `open`: that is the reader's.
function patchAttributes(old, fresh) {
  for (const {name, value} of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const {name} of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
}
