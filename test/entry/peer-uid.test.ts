import { expect, test } from 'vitest'
import { uidOf } from '../../src-main/entry/web/peer-uid.ts'

// 127.0.0.1:40000 to 127.0.0.1:8470 of user 1000, its other end, a listener, and an ended connection without inode.
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31105 1 0000000000000000 100 0 0 10 0
   1: 0100007F:2116 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 31107 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:9C40 0100007F:2116 01 00000000:00000000 00:00000000 00000000  1000        0 31106 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:9C41 0100007F:2116 06 00000000:00000000 03:0000011D 00000000     0        0 0 3 0000000000000000
`

test('the uid of a connection is that of its other end', () => {
  expect(uidOf(TABLE, 40000, 8470)).toBe(1000)
  expect(uidOf(TABLE, 8470, 40000)).toBe(0)
})

test('a connection that has ended, or never was, belongs to nobody', () => {
  expect(uidOf(TABLE, 40001, 8470)).toBeUndefined()
  expect(uidOf(TABLE, 40002, 8470)).toBeUndefined()
})
