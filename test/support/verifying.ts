import type { Page } from 'playwright-core'
import { type Place, place, record } from './browser.ts'
import { furnish } from './gateway.ts'

/** Three placements that wait, the oldest in A-3. */
export async function waiting(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t)
  await furnish(made.gateway, ['A-1', 'A-2', 'A-3', 'A-4'])
  for (const slot of ['A-3', 'A-1', 'A-2'])
    await record(made.gateway, {
      ...{ event_type: 'PLACED', slot_code: slot, asset_barcode: `P-${slot}`, scale_weight_kg: 412.5 },
    })
  return made
}

/** Waits until a placement is shown, and its photo is on the screen: before that it takes no verdict. */
export const shown = async (page: Page, slot: string) => {
  await page.getByRole('region', { name: `Slot ${slot}, Pallet P-${slot}` }).waitFor()
  await page.locator('.verify-buttons .strong[aria-disabled=false]').waitFor()
}
