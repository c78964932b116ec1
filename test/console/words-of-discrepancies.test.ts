import t from 'tap'
import { warningCodes } from '../../src/config/index.ts'
import { discrepancyTexts } from '../../src/console/page/i18n/discrepancy-texts.ts'
import { discrepancyWords } from '../../src/console/page/i18n/discrepancy-words.ts'
import { warningTexts } from '../../src/console/page/kit/warning-texts.ts'
import { warningWords } from '../../src/console/page/kit/warning-words.ts'
import { discrepancyKinds } from '../../src/floor/discrepancy.ts'

const fromGateway = {
  what: 'as the gateway says it',
  todo: 'what the gateway says',
  countId: null,
  lastPlacedHere: null,
}

t.test(
  'every kind of discrepancy has words in the language of the page, with the slot and pallet that it names',
  (t) => {
    t.same(Object.keys(discrepancyTexts).toSorted(), discrepancyKinds.toSorted())
    for (const kind of discrepancyKinds) {
      const { what, todo } = discrepancyWords({ ...fromGateway, kind, otherSlot: null, otherAssetBarcode: null })
      t.notMatch(`${what} ${todo}`, /undefined|null|gateway says/, kind)
    }
    const named = { otherSlot: { id: 7, slot_id: 'B-07' }, otherAssetBarcode: 'P-9', countId: 3 }
    const whatOf = (kind: string) => discrepancyWords({ ...fromGateway, ...named, kind }).what
    t.match(whatOf('asset_in_two_slots'), /B-07/)
    t.match(whatOf('removed_elsewhere'), /B-07/)
    t.match(whatOf('two_in_one_slot'), /^P-9 was placed in the same slot after it$/)
    t.match(whatOf('left_behind'), /P-9/)
    t.match(whatOf('verified_mismatch'), /P-9/)
    t.match(whatOf('count_difference'), /count 3 found P-9/)
    const { what } = discrepancyWords({ ...fromGateway, ...named, otherAssetBarcode: null, kind: 'count_difference' })
    t.match(what, /result of count 3 does not match the ledger/)
    t.match(whatOf('photo_reused'), /B-07/)
    t.end()
  },
)

t.test('a kind of a later version is told as the gateway wrote it', (t) => {
  const later = { ...fromGateway, kind: 'toString', otherSlot: null, otherAssetBarcode: null }
  t.same(discrepancyWords(later), { what: fromGateway.what, todo: fromGateway.todo })
  t.equal(warningWords({ code: 'constructor', message: 'something new' }), 'something new')
  t.end()
})

t.test('every warning that the ledger can give has words in the language of the page', (t) => {
  t.same(Object.keys(warningTexts).toSorted(), warningCodes.toSorted())
  for (const code of warningCodes) t.not(warningWords({ code, message: 'gateway' }), 'gateway', code)
  t.end()
})
