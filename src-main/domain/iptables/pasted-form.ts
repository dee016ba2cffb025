/**
 * Names the form that people bring instead of a clean save text, judged by one line of it; undefined when the
 * line gives no hint. The sentence ends with what to do.
 */
export function recognizePastedForm(line: string): string | undefined {
  if (line.endsWith('\r')) return 'the lines end with CR LF (Windows line ends); convert them to LF'
  // The start tells; a bound keeps the patterns quick on lines of any length.
  const start = line.slice(0, 300)
  return FORMS.find(([pattern]) => pattern.test(start))?.[1]
}

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^\uFEFF/, 'the text starts with a byte order mark; remove it'],
  [/^(```|~~~)/, 'this is a Markdown code fence; leave the fences out'],
  [/^> ?/, 'the lines are quoted with ">" as in a mail; remove the quote marks'],
  [
    /^(\S+@\S+[^#$]*|\[[^\]]*@[^\]]*\]|~|\/\S*)?[#$] *(sudo +)?\S*ip6?tables\S*/,
    'this is a shell prompt with its command; start at the line behind it',
  ],
  [/^\S+@\S+:\S*[#$]/, 'this is a shell prompt; leave it out'],
  [
    /^(sudo +)?(\/\S*\/)?ip6?tables(-nft|-legacy)?(-(save|restore))? *(-|$|[|<>])/,
    'this is an iptables command, not its output; run it and take what iptables-save prints',
  ],
  [/^-P \S+ \S+/, 'this is an `iptables -S` listing, not iptables-save (it has no table and no COMMIT)'],
  [/^-[NA] \S+/, 'this looks like an `iptables -S` listing, not iptables-save (no `*table` line before it)'],
  [
    /^(Chain \S+ \((policy|\d+ references)|(num +)?(pkts +bytes +)?target +prot )/,
    'this is an `iptables -L` listing, not iptables-save; it does not hold the rules completely',
  ],
  [/^table (ip|ip6|inet|arp|bridge|netdev) \S+ \{/, 'this is `nft list ruleset` output, not iptables-save'],
  [/^["{[].*\\n/, 'the line ends are written as \\n, as in JSON; turn them into real line ends'],
  [/^[ \t]+[#*:[\-CP]/, 'the lines are indented; remove the blanks or tabs before them'],
]
