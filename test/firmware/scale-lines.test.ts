import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { fileNeeds } from '../support/needs.ts'

fileNeeds(t, 'awk')

const lines = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/scale-lines.awk')

/** The weights in kg that a scale's lines are read as. */
function weights(...said: string[]): string[] {
  const ran = spawnSync('awk', ['-f', lines], { input: said.map((line) => `${line}\r\n`).join(''), encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return ran.stdout.split('\n').filter((line) => line !== '')
}

t.test('a pallet that swings, settles and goes is one reading', async (t) => {
  const said = [
    'US,GS,+  210.5kg',
    'US,GS,+  419.0kg',
    'ST,GS,+  420.5kg',
    'ST,GS,+  420.5kg',
    'US,GS,+  100.0kg',
    'ST,GS,+    0.0kg',
  ]
  t.same(weights(...said), ['420.500'])
  t.same(weights(...said, ...said), ['420.500', '420.500'], 'the next one is another')
})

t.test('Mettler-Toledo: S S is settled, S D is not, and errors are no weights', async (t) => {
  t.same(weights('S D     12.10 kg', 'S S     12.34 kg', 'S S      0.00 kg', 'S I', 'S +', 'ES'), ['12.340'])
})

t.test('a bare weight counts when it is the same three times', async (t) => {
  t.same(weights('  5.10 kg', '  5.12 kg', '  5.12 kg'), [])
  t.same(weights('  5.10 kg', '  5.12 kg', '  5.12 kg', '  5.12 kg', '  5.12 kg'), ['5.120'])
})

t.test('grams, pounds, ounces and tonnes become kg; a comma is a point', async (t) => {
  t.same(weights('ST,NT,+ 1500 g'), ['1.500'])
  // The international pound is 0.45359237 kg exactly.
  t.same(weights('ST,GS,+ 100 lb'), ['45.359'])
  t.same(weights('ST,GS,+ 16 oz'), ['0.454'])
  t.same(weights('ST,GS,+ 1,250 t'), ['1250.000'])
})

t.test('less than nothing, a number without a unit, and overload are no readings', async (t) => {
  t.same(weights('ST,GS,-  12.3kg', '12345', 'OL,GS,+ 9999.9kg', '', 'kg'), [])
})
