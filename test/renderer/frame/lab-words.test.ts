import { describe, expect, it } from 'vitest'
import { BUNDLE, EXPORT_CHOICES, exportFileName } from '../../../src-renderer/frame/export-rules.ts'
import { joinManifests } from '../../../src-renderer/frame/join-manifests.ts'
import { labWords, podState, restartWords } from '../../../src-renderer/frame/lab-words.ts'
import { sampleLab } from '../sample-lab.ts'

const lab = sampleLab('http-server.yaml')

describe('the lab in words', () => {
  it('counts, with one of a thing said as one', () => {
    expect(labWords('connected', lab.status)).toBe('running · 3 nodes · 3 pods · 2 services')
    expect(labWords('connected', { ...lab.status, pods: 1, services: 1000 })).toBe(
      'running · 3 nodes · 1 pod · 1,000 services',
    )
    expect(labWords('connecting', undefined)).toBe('connecting')
    expect(labWords('lost', lab.status)).toBe('no connection')
  })

  it('says a pod’s state, the end of it before all else', () => {
    const [pod] = lab.pods
    if (!pod) throw new Error('no pod')
    const stateOf = (status: Partial<typeof pod.status>) =>
      podState({ ...pod, status: { ...pod.status, ...status } })
    expect(stateOf({})).toBe('ready')
    expect(stateOf({ ready: false })).toBe('not ready')
    expect(stateOf({ ready: false, podIPs: [] })).toBe('pending')
    expect(stateOf({ terminating: true })).toBe('terminating')
  })

  it('names the lab that is to be started again, unless it is the usual one', () => {
    expect(restartWords(false, 'lab').command).toBe('chainwalk serve')
    expect(restartWords(true, 'other').command).toBe('chainwalk up --detach --name other')
  })
})

describe('files', () => {
  it('of exports have names of their own', () => {
    const names = EXPORT_CHOICES.map((choice) => exportFileName('lab', 'worker1', choice))
    expect(names).toContain('lab-worker1.rules')
    expect(new Set(names).size).toBe(names.length)
    expect(exportFileName('lab', undefined, BUNDLE)).toBe('lab.chainwalk')
  })

  it('of manifests are joined under their names', () => {
    expect(joinManifests([{ file: '/tmp/a.yaml', text: 'kind: A' }])).toEqual({
      file: 'a.yaml',
      text: 'kind: A',
    })
    expect(
      joinManifests([
        { file: '/tmp/a.yaml', text: 'kind: A\n\n' },
        { file: 'b.yaml', text: 'kind: B' },
      ]).text,
    ).toBe('# a.yaml\nkind: A\n---\n# b.yaml\nkind: B\n')
  })
})
