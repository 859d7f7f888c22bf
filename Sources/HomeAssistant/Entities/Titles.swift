import Vitals

extension Metric {
    /// The metric's name within a sentence.
    var phrase: String {
        switch self {
        case .heartRate: "heart rate"
        case .restingHeartRate: "resting heart rate"
        case .bloodPressure: "blood pressure"
        case .bloodOxygen: "blood oxygen"
        case .stress: "stress"
        case .temperature: "temperature"
        case .steps: "steps"
        case .sleep: "sleep"
        case .sport: "sport"
        case .battery: "battery"
        }
    }

    /// The metric's name by itself.
    var title: String { phrase.capitalizedFirst }
}

extension MonitorSetting {
    /// The setting's name for a person. Names of a metric begin alike, so that Home Assistant lists them together.
    var title: String {
        switch field {
        case .scheduleEnabled: "\(metric.title) monitoring"
        case .scheduleStart: "\(metric.title) monitoring start"
        case .scheduleEnd: "\(metric.title) monitoring end"
        case .scheduleInterval: "\(metric.title) monitoring interval"
        case .alertEnabled: "\(metric.title) alert"
        case .alertLower: "\(metric.title) alert lower limit"
        case .alertUpper: "\(metric.title) alert upper limit"
        case .systolicLower: "\(metric.title) alert systolic lower limit"
        case .systolicUpper: "\(metric.title) alert systolic upper limit"
        case .diastolicLower: "\(metric.title) alert diastolic lower limit"
        case .diastolicUpper: "\(metric.title) alert diastolic upper limit"
        case .restingAlertEnabled: "\(metric.title) resting alert"
        case .restingAlertLower: "\(metric.title) resting alert lower limit"
        case .restingAlertUpper: "\(metric.title) resting alert upper limit"
        case .exerciseAlertEnabled: "\(metric.title) exercise alert"
        case .exerciseAlertLower: "\(metric.title) exercise alert lower limit"
        case .exerciseAlertUpper: "\(metric.title) exercise alert upper limit"
        case .exerciseMaximum: "\(metric.title) exercise maximum"
        }
    }
}

extension String {
    /// The text with its first letter in upper case.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
