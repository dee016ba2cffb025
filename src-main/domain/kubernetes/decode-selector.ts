import type { Fields } from './decode-fields.ts'
import { forbidden, invalidValue, requiredValue } from './field-messages.ts'
import { knownFields } from './known-fields.ts'
import { qualifiedNameProblems } from './names.ts'
import type { LabelSelector } from './objects.ts'
import { validateLabels } from './validate-labels.ts'

type Requirement = LabelSelector['matchExpressions'][number]

const OPERATORS: readonly string[] = [
  'In',
  'NotIn',
  'Exists',
  'DoesNotExist',
] satisfies Requirement['operator'][]

/** The LabelSelector in the field `selector`; empty when it is missing. */
export function decodeLabelSelector(owner: Fields): LabelSelector {
  const fields = owner.fields('selector')
  fields.allowOnly(knownFields.labelSelector)
  const matchLabels = fields.labels('matchLabels')
  validateLabels(fields, 'matchLabels', matchLabels)
  const matchExpressions = fields.list('matchExpressions').map(decodeRequirement)
  return { matchLabels, matchExpressions }
}

function decodeRequirement(fields: Fields): Requirement {
  fields.allowOnly(knownFields.labelSelectorRequirement)
  const { report, path } = fields
  const key = fields.string('key') ?? ''
  const operator = fields.string('operator') ?? ''
  const values = fields.strings('values')
  if (fields.isSound) {
    report.invalid(path.child('key'), key, qualifiedNameProblems(key))
    if (!OPERATORS.includes(operator)) {
      report.error(path.child('operator'), invalidValue(operator, 'not a valid selector operator'))
    } else if (operator.endsWith('In') && values.length === 0) {
      const detail = "must be specified when `operator` is 'In' or 'NotIn'"
      report.error(path.child('values'), requiredValue(detail))
    } else if (!operator.endsWith('In') && values.length > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
      report.error(path.child('values'), forbidden(detail))
    }
  }
  return { key, operator: operator as Requirement['operator'], values }
}
