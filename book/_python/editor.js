// The editor of answers: CodeMirror with what a page needs of it.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Colours are variables of the page's style sheet, so that light and dark need no second editor.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--slp-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--slp-string)" },
  { tag: tags.comment, color: "var(--slp-comment)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--slp-number)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--slp-name)" },
]);

// Make an editor in a place of the page. Escape and then Tab leaves it; Tab alone indents.
export function edit(place, { text, label, describedBy, changed, check }) {
  place.addEventListener("keydown", (event) => event.key === "/" && event.stopPropagation()); // the page's key for its search
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        indentUnit.of("    "),
        python(),
        EditorView.lineWrapping,
        syntaxHighlighting(colours),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": describedBy, spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        keymap.of([
          { key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (check(), true) },
          { key: "Ctrl-Enter", run: () => (check(), true) },
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
      ],
    }),
  });
  const [blank] = text.match(/# YOUR CODE HERE\n +raise NotImplementedError\(\)/) ?? [];
  if (blank) view.dispatch({ selection: { anchor: text.indexOf(blank), head: text.indexOf(blank) + blank.length } });
  return {
    focus: () => view.focus(),
    text: () => view.state.doc.toString(),
    put: (words) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: words } }),
  };
}
