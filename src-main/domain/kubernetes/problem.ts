/** One thing wrong (or worth a warning) in an input, with the place where a person can mend it. */
export interface Problem {
  readonly severity: 'error' | 'warning'
  /** As the user named it; "-" is standard input. */
  readonly file: string
  /** From 1; 0 where the input has no lines (an object that the lab holds). */
  readonly line: number
  /** Empty when the problem lies before any object is known (broken YAML). */
  readonly kind: string
  /** `namespace/name`, or only the name in the namespace default and for cluster-scoped kinds. */
  readonly name: string
  /** Kubernetes' field path, e.g. `spec.ports[0].nodePort`; empty when the object as a whole is meant. */
  readonly path: string
  /** What is wrong, then what to do where that is not plain. */
  readonly message: string
}

/** `file:line: Kind "name": path: message`, leaving out what is empty. */
export function formatProblem(problem: Problem): string {
  const place = problem.line > 0 ? `${problem.file}:${problem.line}` : problem.file
  const object = problem.kind && (problem.name ? `${problem.kind} "${problem.name}"` : problem.kind)
  return [place, object, problem.path, problem.message].filter((part) => part !== '').join(': ')
}
