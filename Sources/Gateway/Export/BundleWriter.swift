import JSON
import Vitals

/// A Bundle (collection) of FHIR R4B: a Patient for each person, a Device for each device, and an Observation for each sample.
///
/// The ids of persons, devices and samples are the same in each export.
struct BundleWriter: SampleWriter {
    private let scope: ExportScope
    private var json = JSONWriter()
    private var isFirst = true

    init(_ scope: ExportScope) { self.scope = scope }

    mutating func begin(_ output: inout [UInt8]) {
        output += #"{"resourceType":"Bundle","type":"collection","timestamp":"\#(scope.madeAt)","entry":["#.utf8
        for person in scope.people { writeEntry(self.patient(person), to: &output) { $0.patient(person) } }
        for (device, identity) in scope.devices {
            let name = scope.household.devices.first { $0.id == device }?.name
            writeEntry(self.device(device), to: &output) { $0.device(device, name: name, identity) }
        }
    }

    mutating func add(_ item: ExportedSample, to output: inout [UInt8]) -> OmittedSample? {
        // The charge of a battery says nothing about a person.
        guard item.metric.hasHistory, let person = item.person else { return .noCode }
        let (patient, device) = (self.patient(person), self.device(item.device))
        writeEntry(item.stored.id, to: &output) { $0.observation(item, of: patient, by: device) }
        return nil
    }

    mutating func end(_ output: inout [UInt8]) { output += "\n]}\n".utf8 }

    private mutating func writeEntry(
        _ id: SampleID, to output: inout [UInt8], _ resource: (inout JSONWriter) -> Void
    ) {
        json.removeAll()
        json.beginObject()
        json.member("fullUrl", "urn:uuid:\(id)")
        json.key("resource")
        json.beginObject()
        resource(&json)
        json.endObject()
        json.endObject()
        output += (isFirst ? "\n" : ",\n").utf8
        output += json.bytes
        isFirst = false
    }

    private func patient(_ name: String) -> SampleID {
        SampleID(name: "fhir|patient|\(scope.household.gateway.text)|\(name)")
    }

    private func device(_ id: DeviceID) -> SampleID {
        SampleID(name: "fhir|device|\(scope.household.gateway.text)|\(id.text)")
    }
}

/// FHIR has no `null` and no empty lists or texts: what is not known is left out.
extension JSONWriter {
    fileprivate mutating func patient(_ name: String) {
        member("resourceType", "Patient")
        member("name", array: [name]) { writer, name in
            writer.beginObject()
            writer.member("text", name)
            writer.endObject()
        }
    }

    fileprivate mutating func device(_ id: DeviceID, name: String?, _ identity: DeviceIdentity?) {
        member("resourceType", "Device")
        identifier("urn:vitals2mqtt:device", id.text)
        known("manufacturer", identity?.manufacturer)
        known("serialNumber", identity?.serial)
        member("deviceName", array: [name ?? id.text]) { writer, name in
            writer.beginObject()
            writer.member("name", name)
            writer.member("type", "user-friendly-name")
            writer.endObject()
        }
        known("modelNumber", identity?.model)
        guard let firmware = identity?.firmware, !firmware.isEmpty else { return }
        member("version", array: [firmware]) { writer, version in
            writer.beginObject()
            writer.member("value", version)
            writer.endObject()
        }
    }

    private mutating func known(_ key: StaticString, _ text: String?) {
        if let text, !text.isEmpty { member(key, text) }
    }

    private mutating func identifier(_ system: String, _ value: String) {
        member("identifier", array: [value]) { writer, value in
            writer.beginObject()
            writer.member("system", system)
            writer.member("value", value)
            writer.endObject()
        }
    }

    fileprivate mutating func observation(_ item: ExportedSample, of patient: SampleID, by device: SampleID) {
        let (stored, sample) = (item.stored, item.sample)
        let code = ClinicalCode.of(sample)
        member("resourceType", "Observation")
        member("id", stored.id.description)
        member("meta") { meta in
            meta.member("versionId", String(stored.revision))
            meta.member("lastUpdated", stored.receivedAt.description)
            guard let profile = code.profile else { return }
            meta.member("profile", array: [profile]) {
                $0.string("http://hl7.org/fhir/StructureDefinition/\($1)")
            }
        }
        identifier("urn:ietf:rfc:3986", "urn:uuid:\(stored.id)")
        member("status", stored.isWithdrawn ? "entered-in-error" : stored.revision > 1 ? "amended" : "final")
        if let category = code.category {
            member("category", array: [category]) { writer, category in
                writer.beginObject()
                writer.coding([
                    ClinicalCode.Coding(
                        system: "http://terminology.hl7.org/CodeSystem/observation-category", code: category,
                        display: category == "activity" ? "Activity" : "Vital Signs")
                ])
                writer.endObject()
            }
        }
        member("code") { $0.coding(code.codings) }
        member("subject") { $0.member("reference", "urn:uuid:\(patient)") }
        if sample.start == sample.end {
            member("effectiveDateTime", sample.start.description)
        } else {
            member("effectivePeriod") { period in
                period.member("start", sample.start.description)
                period.member("end", sample.end.description)
            }
        }
        member("issued", stored.receivedAt.description)
        if let value = sample.minutesOnlyInBed ?? sample.value, let unit = code.unit { quantity(value, unit) }
        member("device") { $0.member("reference", "urn:uuid:\(device)") }
        let components = sample.components
        guard !components.isEmpty else { return }
        member("component", array: components) { writer, component in
            writer.beginObject()
            writer.member("code") { $0.coding([component.coding]) }
            switch component.value {
            case .quantity(let value, let unit): writer.quantity(value, unit)
            case .text(let text): writer.member("valueString", text)
            case .flag(let flag): writer.member("valueBoolean", flag)
            }
            writer.endObject()
        }
    }

    private mutating func coding(_ codings: [ClinicalCode.Coding]) {
        member("coding", array: codings) { writer, coding in
            writer.beginObject()
            writer.member("system", coding.system)
            writer.member("code", coding.code)
            writer.member("display", coding.display)
            writer.endObject()
        }
    }

    private mutating func quantity(_ value: Double, _ unit: ClinicalCode.Unit) {
        member("valueQuantity") { quantity in
            quantity.member("value", value)
            quantity.member("unit", unit.text)
            quantity.member("system", "http://unitsofmeasure.org")
            quantity.member("code", unit.code)
        }
    }
}

/// A part of a sample beside its number.
private struct Component {
    enum Value {
        case quantity(Double, ClinicalCode.Unit)
        case text(String)
        case flag(Bool)
    }

    var coding: ClinicalCode.Coding
    var value: Value
}

extension Sample {
    /// What the sample has beside its number.
    fileprivate var components: [Component] {
        var result: [Component] = []
        func add(_ coding: ClinicalCode.Coding, _ value: Double?, _ unit: ClinicalCode.Unit) {
            if let value { result.append(Component(coding: coding, value: .quantity(value, unit))) }
        }
        /// Devices write 0 for a heart rate that they have not measured.
        func add(_ coding: ClinicalCode.Coding, rate: Double?) { add(coding, rate == 0 ? nil : rate, .perMinute) }
        switch reading {
        case .value: break
        case .bloodPressure(let pressure):
            add(ClinicalCode.systolic, pressure.systolic, .pressure)
            add(ClinicalCode.diastolic, pressure.diastolic, .pressure)
            add(ClinicalCode.pulse, rate: pressure.pulse)
        case .count(let increment):
            add(.own("distance_m", "Distance"), increment.distance, .metres)
            add(.own("energy_kcal", "Energy"), increment.energy, .energy)
        case .sleep(let sleep):
            var depths = sleep.depths
            if minutesOnlyInBed != nil { depths.remove(.inBed) }
            for depth in Sleep.Stage.Depth.allCases where depths.contains(depth) {
                add(ClinicalCode.stage(depth), Double(sleep.minutes(depth)), .minutes)
            }
        case .sport(let sport):
            result.append(Component(coding: ClinicalCode.activity, value: .text(sport.activity)))
            add(.own("distance_m", "Distance"), sport.distance, .metres)
            add(.own("energy_kcal", "Energy"), sport.energy, .energy)
            add(ClinicalCode.stepCount, sport.steps.map { Double($0) }, .steps)
            add(.own("heart_rate_min", "Lowest heart rate"), rate: sport.minimumHeartRate)
            add(.own("heart_rate_avg", "Average heart rate"), rate: sport.averageHeartRate)
            add(.own("heart_rate_max", "Highest heart rate"), rate: sport.maximumHeartRate)
        }
        // A maximum is no ordinary heart rate, so it says so.
        if kind != .normal { result.append(Component(coding: .own("kind"), value: .text(kind.rawValue))) }
        if let isExercise { result.append(Component(coding: .own("exercise"), value: .flag(isExercise))) }
        if isUserInitiated { result.append(Component(coding: .own("user_initiated"), value: .flag(true))) }
        for description in metric.qualifiers {
            guard let word = qualifiers[description.qualifier] else { continue }
            result.append(Component(coding: .own(description.qualifier.rawValue), value: .text(word)))
        }
        return result
    }
}
