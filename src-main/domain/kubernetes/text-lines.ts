/** Line numbers of a text whose lines end with `\n`; the index is made when the first line is asked for. */
export class TextLines {
  private readonly text: string
  private readonly firstLine: number
  private starts: number[] | undefined

  /** `firstLine` is the number of the text's first line, from 1. */
  constructor(text: string, firstLine = 1) {
    this.text = text
    this.firstLine = firstLine
  }

  /** The text of a line, without its end. */
  textOf(line: number): string {
    this.starts ??= findLineStarts(this.text)
    const start = this.starts[line - this.firstLine]
    if (start === undefined) return ''
    const end = this.text.indexOf('\n', start)
    return this.text.slice(start, end < 0 ? this.text.length : end)
  }

  lineAt(offset: number): number {
    this.starts ??= findLineStarts(this.text)
    let low = 0
    let high = this.starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return this.firstLine + low
  }
}

function findLineStarts(text: string): number[] {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}
