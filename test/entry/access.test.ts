import { describe, expect, test } from 'vitest'
import { Access } from '../../src-main/entry/web/access.ts'

const HOST = '127.0.0.1:8470'
const targetOf = (link: string): string => new URL(link).pathname + new URL(link).search
const UID = 1000
const get = (access: Access, target: string, headers = {}, uid: number | undefined = UID) =>
  access.admitRequest({ method: 'GET', target, headers: { host: HOST, ...headers }, uid })

describe('the link of a run', () => {
  test('can be redeemed again and again; one for a command line only once', () => {
    const access = new Access(8470)
    for (const _ of [1, 2]) expect(get(access, targetOf(access.link)).verdict).toBe('redeemed')
    const once = targetOf(access.createOneTimeLink())
    expect(get(access, once).verdict).toBe('redeemed')
    expect(get(access, once)).toMatchObject({ verdict: 'refused', status: 403 })
  })

  test('a look at the headers alone does not use up a one-time link', () => {
    const access = new Access(8470)
    const target = targetOf(access.createOneTimeLink())
    expect(access.admitRequest({ method: 'HEAD', target, headers: { host: HOST }, uid: UID }).verdict).toBe(
      'redeemed',
    )
    expect(get(access, target).verdict).toBe('redeemed')
  })

  test('of one run means nothing to another, nor does its cookie', () => {
    const [one, other] = [new Access(8470), new Access(8470)]
    const redeemed = get(one, targetOf(one.link))
    if (redeemed.verdict !== 'redeemed') throw new Error('not redeemed')
    const cookie = redeemed.cookie.split(';')[0]
    expect(get(one, '/', { cookie }).verdict).toBe('admitted')
    expect(get(other, '/', { cookie })).toMatchObject({ status: 401 })
    expect(get(other, targetOf(one.link))).toMatchObject({ status: 403 })
  })

  test('gives a cookie that is good for programs of one user only', () => {
    const access = new Access(8470)
    const redeemed = get(access, targetOf(access.link))
    if (redeemed.verdict !== 'redeemed') throw new Error('not redeemed')
    const cookie = redeemed.cookie.split(';')[0]
    const upgrade = (uid: number) =>
      access.admitUpgrade({
        method: 'GET',
        target: '/lab',
        headers: { host: HOST, origin: `http://${HOST}`, cookie },
        uid,
      })
    expect(get(access, '/', { cookie }).verdict).toBe('admitted')
    expect(upgrade(UID).verdict).toBe('admitted')
    expect(get(access, '/', { cookie }, 1001)).toMatchObject({ status: 401 })
    expect(upgrade(1001)).toMatchObject({ status: 401 })
    expect(
      access.admitRequest({ method: 'GET', target: '/', headers: { host: HOST, cookie }, uid: undefined }),
    ).toMatchObject({ status: 401 })
  })
})
