import { alertTexts } from '../i18n/alert-texts.ts'
import { language } from '../i18n/language.ts'
import { type HelpPlace, helpAddress, helpPlaces } from './help-places.ts'

/** Leads from something that is missing to the part of the manual that says how to get it. */
export const HelpLink = ({ to }: { to: HelpPlace }) => (
  <a href={helpAddress(helpPlaces[to], language)}>{alertTexts.more}</a>
)
