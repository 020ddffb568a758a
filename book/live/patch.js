// Makes one element like another with as few changes as possible: focus, selection and open disclosures survive.

export function patch(old, fresh) {
  let node = old.firstChild;
  for (let wanted = fresh.firstChild, after; wanted; wanted = after) {
    after = wanted.nextSibling; // before it is moved
    const following = node?.nextSibling ?? null;
    if (!node) old.append(wanted);
    else if (!alike(node, wanted)) node.replaceWith(wanted);
    else if (node.nodeType !== Node.ELEMENT_NODE) setText(node, wanted.data);
    else if (!node.isEqualNode(wanted)) patchElement(node, wanted);
    node = following;
  }
  while (node) {
    const following = node.nextSibling;
    node.remove();
    node = following;
  }
}

function setText(node, text) {
  if (node.data !== text) node.data = text;
}

function patchElement(old, fresh) {
  patchAttributes(old, fresh);
  patch(old, fresh);
}

export function patchHtml(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  patch(element, template.content);
}

const alike = (a, b) => a.nodeName === b.nodeName && a.getAttribute?.("data-key") === b.getAttribute?.("data-key");

// What is there and not in the new one is removed, but for `open`: that is the reader's.
function patchAttributes(old, fresh) {
  if (!old.hasAttributes() && !fresh.hasAttributes()) return;
  for (const name of fresh.getAttributeNames()) {
    const value = fresh.getAttribute(name);
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of old.getAttributeNames()) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
}
