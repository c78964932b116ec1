import t from 'tap'
import { fileDelayMs, judge, type Reply, type Step } from '../../src/upload/verdict.ts'

const answer = (status: number, retryAfterMs: number | null = null): Reply => ({
  kind: 'answer',
  status,
  hash: null,
  sizeBytes: null,
  retryAfterMs,
  body: '',
})

/** Verdict on each status for a sent file, a MOVE that names it, and a created folder. */
const table: readonly (readonly [status: number, put: string, move: string, folder: string])[] = [
  [200, 'there', 'wait', 'wait'],
  [201, 'done', 'done', 'done'],
  [204, 'done', 'done', 'wait'],
  [207, 'wait', 'wait', 'wait'],
  [301, 'pause', 'pause', 'pause'],
  [400, 'park', 'park', 'park'],
  [401, 'unauthorized', 'unauthorized', 'unauthorized'],
  [403, 'park', 'park', 'park'],
  [404, 'folders', 'there', 'folders'],
  [405, 'park', 'park', 'done'],
  [409, 'folders', 'folders', 'folders'],
  [412, 'there', 'there', 'park'],
  [413, 'park', 'park', 'park'],
  [423, 'wait', 'wait', 'wait'],
  [429, 'pause', 'pause', 'pause'],
  [500, 'wait', 'wait', 'wait'],
  [502, 'wait', 'wait', 'wait'],
  [503, 'pause', 'pause', 'pause'],
  [504, 'wait', 'wait', 'wait'],
  [507, 'park', 'park', 'park'],
]

t.test('each status has one meaning for each step', async (t) => {
  for (const [status, put, move, folder] of table) {
    const kinds = (['put', 'move', 'folder'] as const).map((step) => judge(step, answer(status)).kind)
    t.strictSame(kinds, [put, move, folder], `${status}`)
  }
})

t.test('a full server parks the file, and a pause lasts as long as the server asks for', async (t) => {
  t.match(judge('put', answer(507)), { kind: 'park', why: 'quota' })
  t.match(judge('part', answer(507)), { kind: 'park', why: 'quota' })
  t.match(judge('put', answer(405)), { kind: 'park', why: 'quota' }, 'so does rclone with a full disk')
  t.match(judge('move', answer(405)), { kind: 'park', why: 'refused' })
  t.match(judge('put', answer(429, 90_000)), { kind: 'pause', afterMs: 90_000 })
  t.match(judge('put', answer(503)), { kind: 'pause', afterMs: null })
})

t.test('what is lost on the way counts only where the server may have seen the file', async (t) => {
  const lost = (step: Step, sentBytes: number) => judge(step, { kind: 'none', error: 'ECONNRESET', sentBytes }).kind
  t.equal(lost('put', 0), 'pause', 'before the first byte')
  t.equal(lost('put', 1), 'wait', 'in the middle, and after the last byte')
  t.equal(lost('part', 1), 'wait')
  t.equal(lost('move', 0), 'pause', 'the next attempt looks whether the file has its name')
})

t.test('a disabled account is known by the words of the server, at each step', async (t) => {
  for (const status of [500, 503]) {
    const body = '<s:message>OC\\User\\DisabledUserException: Account disabled</s:message>'
    for (const step of ['put', 'part', 'move', 'list', 'hash'] as const)
      t.match(judge(step, { ...answer(status), body } as Reply), { kind: 'refused', isPassword: false }, `${status}`)
  }
})

t.test('a server that cannot compute hashes is asked for the size', async (t) => {
  for (const status of [400, 403, 405, 415, 501]) t.equal(judge('hash', answer(status)).kind, 'cannot', `${status}`)
  t.equal(judge('hash', answer(404)).kind, 'gone')
  t.equal(judge('look', answer(404)).kind, 'gone')
})

t.test('a file waits 10 s after its first failure, and at most an hour', async (t) => {
  t.strictSame([1, 2, 3, 9, 10, 200].map(fileDelayMs), [10_000, 20_000, 40_000, 2_560_000, 3_600_000, 3_600_000])
})
