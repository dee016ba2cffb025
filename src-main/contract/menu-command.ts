import type { ManifestFile } from './lab-contract.ts'

/** What a person picked in the desktop window's menu and the page is to do. */
export type MenuCommand =
  /** For the editor; nothing is applied yet. */
  | { readonly menu: 'open-manifests'; readonly files: readonly ManifestFile[] }
  /** Views count from 1, as with Ctrl and a digit. */
  | { readonly menu: 'show-view'; readonly number: number }
  | { readonly menu: 'toggle-projector' }

/** Menu commands come over the same channel as the lab's messages, which have a `t`. */
export function isMenuCommand(message: unknown): message is MenuCommand {
  return typeof message === 'object' && message !== null && 'menu' in message
}
