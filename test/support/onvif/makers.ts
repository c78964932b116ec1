/** Analytics of ten makers, as their cameras report them: topics, items and habits. */

/** A message about one rule. `on` begins something and `off` ends it; without `off` it has no end. */
export type MakersRule = {
  /** Name for `analytics.rules`. */
  readonly rule: string
  readonly topic: string
  readonly source?: Readonly<Record<string, string>>
  readonly on: Readonly<Record<string, string>>
  readonly off?: Readonly<Record<string, string>>
  /** By the documents of the maker. */
  readonly kind: 'person' | 'vehicle' | 'animal' | 'line' | 'motion' | 'tamper'
}

export type Habits = {
  /**
   * How its address names a subscription: by the path, by a query, or by reference parameters that each request repeats (WS-Addressing
   * 1.0, 2.1).
   */
  readonly naming: 'path' | 'query' | 'parameters'
  /** Answers to `Renew`; absent: it refuses, and a pull prolongs the subscription. */
  readonly renews?: boolean
  /** Answers each pull at once. */
  readonly hasty?: boolean
  /** States 1970 in each message. */
  readonly has1970?: boolean
  /** Host and port that it names in addresses: its own ones behind a router. */
  readonly namedHost?: string
}

export type Maker = { readonly name: string; readonly habits: Habits; readonly rules: readonly MakersRule[] }

const state = { on: { State: 'true' }, off: { State: 'false' } }

export const makers: readonly Maker[] = [
  {
    name: 'Axis',
    habits: { naming: 'parameters', renews: true },
    rules: [
      {
        rule: 'ObjectAnalytics/Device1Scenario1',
        topic: 'tnsaxis:CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1',
        on: { active: '1', objectId: '12', classTypes: 'human' },
        off: { active: '0', objectId: '', classTypes: '' },
        kind: 'person',
      },
      {
        rule: 'VMD3/vmd3_video_1',
        topic: 'tns1:RuleEngine/tnsaxis:VMD3/vmd3_video_1',
        ...{ on: { active: '1' }, off: { active: '0' }, kind: 'motion' },
      },
    ],
  },
  {
    name: 'Hikvision',
    habits: { naming: 'path', renews: true },
    rules: [
      {
        rule: 'MyMotionDetectorRule',
        topic: 'tns1:RuleEngine/CellMotionDetector/Motion',
        source: { VideoSourceConfigurationToken: 'VideoSourceToken', Rule: 'MyMotionDetectorRule' },
        ...{ on: { IsMotion: 'true' }, off: { IsMotion: 'false' }, kind: 'motion' },
      },
      {
        rule: 'MyFieldDetector1',
        topic: 'tns1:RuleEngine/FieldDetector/ObjectsInside',
        source: { Rule: 'MyFieldDetector1' },
        ...{ on: { IsInside: 'true' }, off: { IsInside: 'false' }, kind: 'line' },
      },
      { rule: 'MotionAlarm', topic: 'tns1:VideoSource/MotionAlarm', source: { Source: '1' }, ...state, kind: 'motion' },
    ],
  },
  {
    name: 'Dahua',
    habits: { naming: 'query', renews: true, namedHost: '10.9.8.7:80' },
    rules: [
      {
        rule: 'car',
        topic: 'tns1:RuleEngine/LineDetector/Crossed',
        source: { Rule: 'car' },
        ...{ on: { ObjectId: '7', ClassTypes: 'Vehicle' }, kind: 'vehicle' },
      },
    ],
  },
  {
    name: 'Hanwha',
    habits: { naming: 'query', renews: true },
    rules: [
      {
        rule: 'Gate',
        topic: 'tns1:OpenApp/WiseAI/ObjectDetection',
        source: { RuleName: 'Gate' },
        ...{ on: { State: 'true', ClassTypes: 'Person' }, off: { State: 'false', ClassTypes: '' }, kind: 'person' },
      },
      {
        rule: 'MotionDetection',
        topic: 'tns1:VideoAnalytics/tnssamsung:MotionDetection',
        ...{ source: { Source: '0' }, ...state, kind: 'motion' },
      },
    ],
  },
  {
    name: 'Bosch',
    habits: { naming: 'path', renews: true, has1970: true },
    rules: [
      {
        rule: 'EnteringField/Eindringen_in_Feld_1',
        topic: 'tns1:IVA/EnteringField/Eindringen_in_Feld_1',
        ...{ source: { Source: '1' }, ...state, kind: 'line' },
      },
      {
        rule: 'GlobalSceneChange/ImagingService',
        topic: 'tns1:VideoSource/GlobalSceneChange/ImagingService',
        ...{ source: { Source: '1' }, ...state, kind: 'tamper' },
      },
    ],
  },
  {
    name: 'Avigilon',
    habits: { naming: 'query', renews: true },
    rules: [
      {
        rule: 'Port Wrong',
        topic: 'tns1:RuleEngine/tns1:LineDetector/tns1:Crossed',
        source: { Rule: 'Port Wrong' },
        ...{ on: { ObjectId: '2166734', ClassTypes: 'Human' }, kind: 'person' },
      },
    ],
  },
  {
    name: 'Reolink',
    habits: { naming: 'query' },
    rules: [
      {
        rule: 'MyRuleDetector/PeopleDetect',
        topic: 'tns1:RuleEngine/MyRuleDetector/PeopleDetect',
        ...{ source: { Source: '000' }, ...state, kind: 'person' },
      },
      {
        rule: 'MyRuleDetector/DogCatDetect',
        topic: 'tns1:RuleEngine/MyRuleDetector/DogCatDetect',
        ...{ source: { Source: '000' }, ...state, kind: 'animal' },
      },
    ],
  },
  {
    name: 'TP-Link',
    habits: { naming: 'path', hasty: true },
    rules: [
      {
        rule: 'MyTPSmartEventDetectorRule',
        topic: 'tns1:RuleEngine/TPSmartEventDetector/TPSmartEvent',
        source: { Rule: 'MyTPSmartEventDetectorRule' },
        ...{ on: { IsVehicle: 'true' }, off: { IsVehicle: 'false' }, kind: 'vehicle' },
      },
      {
        rule: 'MyTamperDetectorRule',
        topic: 'tns1:RuleEngine/CellMotionDetector/Tamper',
        source: { Rule: 'MyTamperDetectorRule' },
        ...{ on: { IsTamper: 'true' }, off: { IsTamper: 'false' }, kind: 'tamper' },
      },
    ],
  },
  {
    name: 'Amcrest',
    habits: { naming: 'query', renews: true },
    rules: [
      {
        rule: 'IVA/HumanShapeDetect',
        topic: 'tns1:UserAlarm/tns1:IVA/HumanShapeDetect',
        ...{ ...state, kind: 'person' },
      },
    ],
  },
  {
    name: 'Ajax',
    habits: { naming: 'parameters', renews: true },
    rules: [
      {
        rule: 'AI',
        topic: 'tns1:RuleEngine/ObjectDetection/Object',
        source: { Rule: 'AI' },
        ...{ on: { ClassTypes: 'Vehical' }, off: { ClassTypes: '' }, kind: 'vehicle' },
      },
    ],
  },
]
