import type { LabelSelector, Labels } from './objects.ts'

/**
 * Whether an object with these labels is selected. A Service's selector is a map; it selects nothing when it
 * is empty, as the endpoint controllers skip such Services. A LabelSelector (Deployment, ReplicaSet) selects
 * everything when it is empty.
 */
export function matchesSelector(selector: Labels | LabelSelector, labels: Labels): boolean {
  if (isLabelSelector(selector)) {
    return (
      hasAll(selector.matchLabels, labels) &&
      selector.matchExpressions.every((expression) => matchesExpression(expression, labels))
    )
  }
  return Object.keys(selector).length > 0 && hasAll(selector, labels)
}

/** The values of a map selector are strings, so a `matchExpressions` list tells the two apart. */
function isLabelSelector(selector: Labels | LabelSelector): selector is LabelSelector {
  return Array.isArray(selector['matchExpressions' as keyof typeof selector])
}

function hasAll(wanted: Labels, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labelOf(labels, key) === value)
}

function matchesExpression(
  { key, operator, values }: LabelSelector['matchExpressions'][number],
  labels: Labels,
): boolean {
  const value = labelOf(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return operator satisfies never
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
