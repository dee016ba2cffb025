import type { Journey } from '../../src-main/domain/trace/journey.ts'
import { formatJourneysMarkdown } from '../../src-main/domain/trace/journey-markdown.ts'
import { formatJourneySvg } from '../../src-main/domain/trace/journey-svg.ts'
import { formatJourneys } from '../../src-main/domain/trace/journey-text.ts'

/** A way of taking a journey home. */
export interface JourneyFormat {
  readonly name: string
  readonly says: string
  readonly extension: string
  /** Media type. */
  readonly type: string
  readonly write: (journey: Journey) => string
}

export const JOURNEY_FORMATS: readonly JourneyFormat[] = [
  {
    name: 'JSON',
    says: 'as `chainwalk trace -o json`',
    extension: 'json',
    type: 'application/json',
    write: (journey) => `${JSON.stringify(journey, null, 2)}\n`,
  },
  {
    name: 'Text',
    says: 'as `chainwalk trace` prints it',
    extension: 'txt',
    type: 'text/plain',
    write: (journey) => formatJourneys([journey]),
  },
  {
    name: 'Markdown',
    says: 'a table of its steps',
    extension: 'md',
    type: 'text/markdown',
    write: (journey) => formatJourneysMarkdown([journey]),
  },
  {
    name: 'SVG',
    says: 'a picture of its way',
    extension: 'svg',
    type: 'image/svg+xml',
    write: formatJourneySvg,
  },
]

export const journeyFileName = ({ id }: Journey, { extension }: JourneyFormat): string =>
  `chainwalk-packet-${id}.${extension}`
