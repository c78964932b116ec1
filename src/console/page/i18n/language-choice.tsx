import { textOf } from '../kit/field.ts'
import { chooseLanguage, type Language, language, languages } from './language.ts'
import { languageTexts } from './language-texts.ts'

/** Chooses the language of this device. Choosing loads the page again. */
export const LanguageChoice = () => (
  <label class="language-choice">
    {languageTexts.language}
    <select
      onInput={(event: Event) => {
        chooseLanguage(textOf(event) as Language)
        location.reload()
      }}
    >
      {(Object.keys(languages) as Language[]).map((one) => (
        <option key={one} value={one} lang={one} selected={one === language}>
          {languages[one]}
        </option>
      ))}
    </select>
  </label>
)
