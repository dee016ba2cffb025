/** SVG text does not wrap: the lines of a text, none longer than `length` characters where its words allow it. */
export function wrapText(text: string, length: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > length) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

/** At most `length` characters, cut between words, without a word that says nothing alone (`dst …`). */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const words = text.replace(/ …$/, '').split(' ')
  while (words.length > 1 && words.join(' ').length > length - 2) words.pop()
  while (NOTHING_ALONE.test(words.at(-1) ?? '')) words.pop()
  return words.length === 0 ? `${text.slice(0, length - 1)}…` : `${words.join(' ')} …`
}

const NOTHING_ALONE = /^(!|src|dst|in|out|tcp|udp|sctp|dport|state|mark)$/
