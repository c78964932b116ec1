import { gatewayWords } from '../i18n/language.ts'
import { warningTexts } from './warning-texts.ts'

export type Warning = { readonly code: string; readonly message: string }

/** Returns the sentence of a warning. For an unknown code, these are the words of the gateway. */
export const warningWords = ({ code, message }: Warning): string =>
  (Object.hasOwn(warningTexts, code) ? warningTexts[code] : undefined) ?? gatewayWords(message)
