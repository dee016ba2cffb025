import type { Fields } from './decode-fields.ts'
import { labelValueProblems, qualifiedNameProblems } from './names.ts'
import type { Labels } from './objects.ts'

/** Reports keys and values that no label may have, in the mapping `name`. */
export function validateLabels(fields: Fields, name: string, labels: Labels): void {
  const path = fields.path.child(name)
  for (const [key, value] of Object.entries(labels)) {
    fields.report.invalid(path, key, qualifiedNameProblems(key), path.child(key))
    fields.report.invalid(path, value, labelValueProblems(value), path.child(key))
  }
}
