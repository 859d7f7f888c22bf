import GatewayKit
import Vitals

/// The characteristics of a device that this driver uses; `nil` for what the device does not have.
struct HealthDevice: Sendable {
    let heartRate: GATTCharacteristic?
    let bloodPressure: GATTCharacteristic?
    let spotCheck: GATTCharacteristic?
    let continuous: GATTCharacteristic?
    let oximeterRecords: GATTCharacteristic?
    let temperature: GATTCharacteristic?
    let temperatureType: GATTCharacteristic?
    let measurementInterval: GATTCharacteristic?
    let weight: GATTCharacteristic?
    let weightFeature: GATTCharacteristic?
    let composition: GATTCharacteristic?
    let compositionFeature: GATTCharacteristic?
    let glucose: GATTCharacteristic?
    let glucoseContext: GATTCharacteristic?
    let glucoseRecords: GATTCharacteristic?
    let battery: GATTCharacteristic?
    let currentTime: GATTCharacteristic?
    let localTime: GATTCharacteristic?
    let dateTime: GATTCharacteristic?

    init(_ link: any GATTLink) {
        func find(
            _ uuid: BluetoothUUID, _ service: BluetoothUUID, _ properties: GATTProperties
        ) -> GATTCharacteristic? {
            link.characteristic(uuid, in: service).flatMap { $0.properties.isDisjoint(with: properties) ? nil : $0 }
        }
        let sends: GATTProperties = [.notify, .indicate]
        heartRate = find(Assigned.heartRate, Assigned.heartRateService, sends)
        bloodPressure = find(Assigned.bloodPressure, Assigned.bloodPressureService, sends)
        spotCheck = find(Assigned.spotCheck, Assigned.oximeterService, sends)
        continuous = find(Assigned.continuous, Assigned.oximeterService, sends)
        oximeterRecords = spotCheck == nil ? nil : find(Assigned.recordAccess, Assigned.oximeterService, .write)
        temperature = find(Assigned.temperature, Assigned.thermometerService, sends)
        temperatureType = find(Assigned.temperatureType, Assigned.thermometerService, .read)
        measurementInterval = find(Assigned.measurementInterval, Assigned.thermometerService, .read)
        weight = find(Assigned.weight, Assigned.weightService, sends)
        weightFeature = find(Assigned.weightFeature, Assigned.weightService, .read)
        composition = find(Assigned.composition, Assigned.compositionService, sends)
        compositionFeature = find(Assigned.compositionFeature, Assigned.compositionService, .read)
        glucose = find(Assigned.glucose, Assigned.glucoseService, sends)
        glucoseContext = find(Assigned.glucoseContext, Assigned.glucoseService, sends)
        glucoseRecords = glucose == nil ? nil : find(Assigned.recordAccess, Assigned.glucoseService, .write)
        battery = find(Assigned.batteryLevel, Assigned.batteryService, [.read, .notify])
        currentTime = find(Assigned.currentTime, Assigned.currentTimeService, [.read, .write])
        localTime = find(Assigned.localTime, Assigned.currentTimeService, [.read, .write])
        // It belongs to no service of its own: makers put it beside their measurement.
        dateTime = link.services.lazy.flatMap(\.characteristics)
            .first { $0.uuid == Assigned.dateTime && !$0.properties.isDisjoint(with: [.read, .write]) }
    }

    /// What sends values, in the order of subscription: the answers to requests before the records, and everything that a device
    /// pours out at once last.
    var sources: [GATTCharacteristic] {
        [
            oximeterRecords, glucoseRecords, glucoseContext, glucose, spotCheck, continuous, battery, heartRate,
            temperature, composition, weight, bloodPressure,
        ].compactMap { $0 }.filter(\.properties.canSubscribe)
    }

    /// Whether it measures anything that this driver knows.
    var isKnown: Bool {
        [heartRate, bloodPressure, spotCheck, continuous, temperature, weight, composition, glucose]
            .contains { $0 != nil }
    }

    /// Whether it keeps records with times, so that it needs a clock.
    var hasRecords: Bool {
        [bloodPressure, spotCheck, temperature, weight, composition, glucose].contains { $0 != nil }
    }

    /// What it can do.
    /// - Parameters:
    ///   - site: where the thermometer measures, if that is the same for all values.
    ///   - scale: what a scale can send.
    func capabilities(site: TemperatureType?, hasVariability: Bool, scale: ScaleFeatures) -> Capabilities {
        var metrics: [Metric: Abilities] = [:]
        if heartRate != nil {
            metrics[.heartRate] = []
            if hasVariability { metrics[.heartRateVariability] = [] }
        }
        if bloodPressure != nil { metrics[.bloodPressure] = [] }
        if spotCheck != nil || continuous != nil {
            let abilities: Abilities = oximeterRecords == nil ? [] : .history
            metrics[.bloodOxygen] = abilities
            metrics[.heartRate] = abilities
        }
        if temperature != nil {
            let canSet = measurementInterval?.properties.contains(.write) == true
            let metric: Metric = site?.isSkin == true ? .skinTemperature : .temperature
            metrics[metric] = canSet ? [.monitor, .scheduleInterval] : []
        }
        if weight != nil || composition != nil {
            for (feature, metric) in ScaleFeatures.metrics where scale.contains(feature) { metrics[metric] = [] }
        }
        if glucose != nil { metrics[.bloodGlucose] = glucoseRecords == nil ? [] : .history }
        if battery != nil { metrics[.battery] = [] }
        return Capabilities(metrics)
    }
}

/// What a scale can send.
struct ScaleFeatures: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    static let weight = ScaleFeatures(rawValue: 1)
    static let height = ScaleFeatures(rawValue: 2)
    static let bodyMassIndex = ScaleFeatures(rawValue: 4)
    static let bodyFat = ScaleFeatures(rawValue: 8)
    static let leanMass = ScaleFeatures(rawValue: 16)

    /// The metric of each.
    static let metrics: [(feature: ScaleFeatures, metric: Metric)] = [
        (.weight, .weight), (.height, .height), (.bodyMassIndex, .bodyMassIndex), (.bodyFat, .bodyFat),
        (.leanMass, .leanMass),
    ]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What a device says in its Weight Scale Feature (0x2A9E) and its Body Composition Feature (0x2A9B).
    /// - Parameters:
    ///   - weight: the first one; `nil` if it was not read: then all that its service can have is assumed.
    ///   - composition: the same of the second one.
    init(_ device: HealthDevice, weight: [UInt8]?, composition: [UInt8]?, quirk: Quirk?) {
        if case .status? = quirk?.effect {
            self.init(rawValue: Self.weight.rawValue)
            return
        }
        func has(_ bit: Int, _ features: [UInt8]?) -> Bool {
            guard let features, features.count > bit / 8 else { return true }
            return features[bit / 8] >> (bit % 8) & 1 == 1
        }
        var found: ScaleFeatures = []
        if device.weight != nil {
            found.insert(.weight)
            // A scale that sends an index sends the height of which it is made.
            if has(2, weight) { found.formUnion([.bodyMassIndex, .height]) }
        }
        if device.composition != nil {
            found.insert(.bodyFat)
            if has(5, composition) { found.insert(.leanMass) }
            if device.weight == nil, has(9, composition) { found.insert(.weight) }
            if device.weight == nil, has(10, composition) { found.insert(.height) }
        }
        self.init(rawValue: found.rawValue)
    }
}
