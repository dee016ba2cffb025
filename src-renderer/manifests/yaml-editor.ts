import { indentLess, indentMore } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import type { Problem } from '../../src-main/domain/kubernetes/problem.ts'

export interface YamlEditor {
  /** Puts another text in, as one step that can be undone. */
  setText(text: string): void
  setProblems(problems: readonly Problem[]): void
  goToLine(line: number): void
  close(): void
}

export interface YamlEditorOptions {
  readonly text: string
  readonly label: string
  readonly onText: (text: string) => void
  readonly onPreview: () => void
  readonly onApply: () => void
}

const highlighting = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--text-faint)', fontStyle: 'italic' },
  { tag: tags.definition(tags.propertyName), color: 'var(--table-nat)' },
  { tag: tags.propertyName, color: 'var(--table-nat)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--table-filter)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--table-mangle)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--text-muted)' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--table-raw)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: 'var(--text-s)', color: 'var(--text)', backgroundColor: 'var(--bg)' },
  '&.cm-focused': { isolation: 'isolate', outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--text-faint)',
    backgroundColor: 'var(--bg-raised)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--bg-hover) 55%, transparent)' },
  '.cm-activeLineGutter': { color: 'var(--text)', backgroundColor: 'var(--bg-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--bg-selected)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--accent) 22%, transparent)' },
  '.cm-foldPlaceholder': {
    color: 'var(--text-muted)',
    backgroundColor: 'var(--bg-sunken)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip': {
    maxWidth: '60ch',
    color: 'var(--text)',
    backgroundColor: 'var(--bg-raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-diagnostic': { padding: 'var(--space-1) var(--space-2)', fontSize: 'var(--text-s)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn)',
    textDecorationSkipInk: 'none',
  },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--bg-raised)' },
  '.cm-panels button': {
    color: 'var(--text)',
    backgroundColor: 'var(--bg)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
  },
  '.cm-textfield': {
    color: 'var(--text)',
    backgroundColor: 'var(--bg)',
    border: '1px solid var(--line-strong)',
  },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 35%, transparent)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--warn)' },
})

/** CodeMirror in an element. Tab indents; Escape and then Tab leaves, as CodeMirror has it built in. */
export function openYamlEditor(parent: Element, options: YamlEditorOptions): YamlEditor {
  let isOurs = false
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run: act(options.onPreview), preventDefault: true },
            { key: 'Mod-Shift-Enter', run: act(options.onApply), preventDefault: true },
            { key: 'Tab', run: indentMore, shift: indentLess },
          ]),
        ),
        basicSetup,
        yaml(),
        syntaxHighlighting(highlighting),
        lintGutter(),
        theme,
        EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isOurs) options.onText(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    setText: (text) => {
      if (text === view.state.doc.toString()) return
      isOurs = true
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        selection: { anchor: 0 },
        scrollIntoView: true,
      })
      isOurs = false
    },
    setProblems: (problems) => {
      view.dispatch(setDiagnostics(view.state, diagnostics(view.state, problems)))
    },
    goToLine: (line) => {
      const at = view.state.doc.line(clampLine(view.state, line))
      const indent = at.text.search(/\S|$/)
      view.dispatch({
        selection: { anchor: at.from + indent },
        effects: EditorView.scrollIntoView(at.from, { y: 'center' }),
      })
      view.focus()
    },
    close: () => view.destroy(),
  }
}

function act(deed: () => void): () => boolean {
  return () => {
    deed()
    return true
  }
}

const clampLine = (state: EditorState, line: number): number => Math.max(1, Math.min(line, state.doc.lines))

/** A problem underlines what its line says, without the indentation and a comment behind it. */
function diagnostics(state: EditorState, problems: readonly Problem[]): Diagnostic[] {
  return problems.map(({ line, severity, path, message }) => {
    const at = state.doc.line(clampLine(state, line))
    const indent = at.text.search(/\S|$/)
    const length = at.text.replace(/\s+#.*$/, '').trimEnd().length
    return {
      from: at.from + Math.min(indent, at.length),
      to: at.from + Math.max(indent, length),
      severity,
      message: path === '' ? message : `${path}: ${message}`,
    }
  })
}
