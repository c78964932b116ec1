import { inLanguage } from './language.ts'

const english = {
  status: {
    empty: 'Empty',
    occupied: 'Not yet verified',
    verified: 'Verified',
    disputed: 'Disputed',
    retired: 'Out of use',
  },
  legend: 'Legend',
  odd: 'Contradiction',
  zoneTypes: {
    storage: 'Storage',
    staging: 'Staging',
    receiving: 'Receiving',
    shipping: 'Shipping',
    cold: 'Cold',
    hazmat: 'Hazardous',
  },
  assetTypes: { pallet: 'Pallet', container: 'Container', box: 'Box', drum: 'Drum', equipment: 'Equipment' },
  deviceKinds: { handheld: 'Handheld', kiosk: 'Wall screen' },
  event: { PLACED: 'Placed', REMOVED: 'Removed', VERIFIED: 'Verified', DISPUTED: 'Disputed' },
  holding: (state: string, pallet: string) => `${state}, pallet ${pallet}`,
  slot: (label: string, zone: string, state: string) => `Slot ${label}, zone ${zone}: ${state}`,
  happened: (what: string, pallet: string, slot: string) => `${what}: pallet ${pallet}, slot ${slot}`,
  justNow: 'just now',
  secondsAgo: (n: number) => `${n} s ago`,
  minutesAgo: (n: number) => `${n} min ago`,
  forSeconds: (n: number) => `for ${n} s`,
  forMinutes: (n: number) => `for ${n} min`,
  since: (time: string) => `since ${time}`,
}

const german: typeof english = {
  status: {
    empty: 'Frei',
    occupied: 'Noch nicht geprüft',
    verified: 'Geprüft',
    disputed: 'Beanstandet',
    retired: 'Stillgelegt',
  },
  legend: 'Legende',
  odd: 'Widerspruch',
  zoneTypes: {
    storage: 'Lagerung',
    staging: 'Bereitstellung',
    receiving: 'Wareneingang',
    shipping: 'Warenausgang',
    cold: 'Kühlung',
    hazmat: 'Gefahrgut',
  },
  assetTypes: { pallet: 'Palette', container: 'Behälter', box: 'Kiste', drum: 'Fass', equipment: 'Ausrüstung' },
  deviceKinds: { handheld: 'Handgerät', kiosk: 'Wandbildschirm' },
  event: { PLACED: 'Eingelagert', REMOVED: 'Ausgelagert', VERIFIED: 'Geprüft', DISPUTED: 'Beanstandet' },
  holding: (state, pallet) => `${state}, Palette ${pallet}`,
  slot: (label, zone, state) => `Stellplatz ${label}, Bereich ${zone}: ${state}`,
  happened: (what, pallet, slot) => `${what}: Palette ${pallet}, Stellplatz ${slot}`,
  justNow: 'gerade eben',
  secondsAgo: (n) => `vor ${n} s`,
  minutesAgo: (n) => `vor ${n} min`,
  forSeconds: (n) => `seit ${n} s`,
  forMinutes: (n) => `seit ${n} min`,
  since: (time) => `seit ${time}`,
}

export const wordTexts = inLanguage({ en: english, de: german })
