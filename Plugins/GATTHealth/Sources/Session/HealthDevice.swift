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
            temperature, weight, bloodPressure,
        ].compactMap { $0 }.filter(\.properties.canSubscribe)
    }

    /// Whether it measures anything that this driver knows.
    var isKnown: Bool {
        [heartRate, bloodPressure, spotCheck, continuous, temperature, weight, glucose].contains { $0 != nil }
    }

    /// Whether it keeps records with times, so that it needs a clock.
    var hasRecords: Bool {
        [bloodPressure, spotCheck, temperature, weight, glucose].contains { $0 != nil }
    }

    /// What it can do.
    func capabilities(site: TemperatureType?, hasVariability: Bool) -> Capabilities {
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
        if weight != nil { metrics[.weight] = [] }
        if glucose != nil { metrics[.bloodGlucose] = glucoseRecords == nil ? [] : .history }
        if battery != nil { metrics[.battery] = [] }
        return Capabilities(metrics)
    }
}
