// The editor of an exercise: CodeMirror in the place of a text field. Fetched at the first touch of one.

import {defaultKeymap, history, historyKeymap, indentWithTab} from "@codemirror/commands";
import {python} from "@codemirror/lang-python";
import {bracketMatching, indentOnInput, indentUnit, syntaxHighlighting} from "@codemirror/language";
import {EditorState, Prec} from "@codemirror/state";
import {EditorView, keymap, lineNumbers} from "@codemirror/view";
import {classHighlighter} from "@lezer/highlight"; // classes: the page's style colours them in light and dark

// Takes the place of the field, with its text, selection and focus; gives {text, write, focus}.
export function edit(field, {name, changed, run}) {
  const held = field === document.activeElement;
  const {selectionStart: anchor, selectionEnd: head} = field;
  const view = new EditorView({
    state: EditorState.create({
      doc: field.value,
      selection: {anchor, head},
      extensions: [
        Prec.highest(keymap.of([{key: "Mod-Enter", run: () => (run(), true)}])),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]), // Escape, then Tab, leaves
        history(), lineNumbers(), indentOnInput(), bracketMatching(), indentUnit.of("    "), python(),
        syntaxHighlighting(classHighlighter),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({"aria-label": name}),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
  field.hidden = true;
  field.after(view.dom);
  if (held) view.focus();
  const text = () => view.state.doc.toString();
  const write = (insert) => view.dispatch({changes: {from: 0, to: view.state.doc.length, insert}});
  return {text, write, focus: () => view.focus()};
}
