import type { LabState } from './lab-state.svelte.ts'

/** One object a lab, made when first asked for. It outlives the view that asks first, and so does what it derives. */
export function perLab<T extends object>(create: (lab: LabState) => T): (lab: LabState) => T {
  const made = new WeakMap<LabState, T>()
  return (lab) => {
    const known = made.get(lab)
    if (known) return known
    let fresh!: T
    $effect.root(() => {
      fresh = create(lab)
    })
    made.set(lab, fresh)
    return fresh
  }
}
