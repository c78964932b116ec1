import t from 'tap'
import { TapStream } from '../../scripts/mutants/tap-stream.ts'

/** What the lines of a run show: the title of the test that noticed, and at which line. */
function noticed(says: string, lines: string) {
  const stream = new TapStream(says)
  for (const [index, line] of lines.split('\n').entries()) {
    const found = stream.push(line)
    if (found) return { line: index + 1, title: found.title }
  }
  return undefined
}

const run = `TAP version 14
# Subtest: a label with \\# is read
    ok 1 - the digits are right
    # Subtest: of a pallet
        ok 1 - should be equal
        not ok 2 - the weight is told
          ---
          compare: ===
          source: |
            t.equal(weight, 4, 'the weight is told')
            t.equal(height, 2, 'the height is told')
          diff: |
            -4
            +five kilograms
          ...
        1..2
    not ok 2 - of a pallet # time=3ms
    ok 3 - the end is right
    1..3
not ok 1 - a label with \\# is read # time=9ms

# Subtest: an empty label is refused
    ok 1 - should be equal
    1..1
ok 2 - an empty label is refused # time=1ms
not ok 3 - not yet built # TODO
1..3`

t.test('a failure shows at its first line, under the title of the test that it is in', async (t) => {
  const title = 'a label with # is read'
  t.strictSame(noticed('the weight is told', run), { line: 6, title })
  t.strictSame(noticed('with # is', run), { line: 6, title })
  t.strictSame(noticed('of a pallet', run), { line: 6, title })
  t.strictSame(noticed('five kilograms', run), { line: 14, title })
})

t.test('what passed, what is yet to be built and the source of the test show nothing', async (t) => {
  for (const says of ['the digits', 'an empty label', 'the height', 'the end', 'not yet built'])
    t.equal(noticed(says, run), undefined, says)
})
