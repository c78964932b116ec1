import { inLanguage } from '../i18n/language.ts'

const english = {
  open: 'Scan by the camera of this device',
  needsHttps: 'To scan by camera, open the console over HTTPS (see gatehouse tls init).',
  notLoaded: 'The code reader could not be loaded from the gateway. Try again.',
}

const german: typeof english = {
  open: 'Mit der Kamera dieses Geräts scannen',
  needsHttps: 'Für das Scannen mit der Kamera die Konsole über HTTPS öffnen (siehe gatehouse tls init).',
  notLoaded: 'Der Codeleser ließ sich nicht vom Gateway laden. Bitte noch einmal versuchen.',
}

/** Texts of the button alone: the others come with the camera. */
export const cameraButtonTexts = inLanguage({ en: english, de: german })
