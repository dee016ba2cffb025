/** What an entry tells the holder that it starts. */
export interface LabSettings {
  readonly name: string
  readonly workers: number
  /** Started by an ordinary user, in a user namespace. */
  readonly rootless: boolean
  readonly attachment: 'auto' | 'bridge' | 'routed'
  /** Which iptables writes the rules. */
  readonly backend: 'auto' | 'nft' | 'legacy'
  /** The folder that holds package.json. */
  readonly program: string
  /** The lab goes on when the process that started it has ended. */
  readonly detached: boolean
}
