import Foundation
import GatewayKit
import Testing
import Vitals

@testable import GATTHealth

/// Every field of a decoder is what tshark reads in the same bytes. The bytes are random, with all combinations of flags.
@Suite struct TsharkTests {
    private static let count = 400
    private static let date = ["year", "month", "day", "hours", "minutes", "seconds"]

    /// Decodes random values of a characteristic, and compares each with tshark's fields.
    private func check<Value>(
        _ service: UInt16, _ characteristic: UInt16, seed: UInt64, _ fields: [String], flags: Int = 1, length: Int = 40,
        decode: ([UInt8]) throws(FormatError) -> Value, _ compare: (Value, [String: [String]], [UInt8]) -> Void
    ) throws {
        var random = SplitMix64(seed: seed)
        let values = (0..<Self.count).map { number in
            let first = flags == 0 ? [] : [UInt8(number & 0xff)]
            return first
                + (0..<length).map { _ in
                    // Special numbers are rare among random ones.
                    Int.random(in: 0..<8, using: &random) == 0
                        ? [0x00, 0x07, 0x08, 0xff, 0xfe, 0x02, 0x01].randomElement(using: &random) ?? 0
                        : UInt8.random(in: .min ... .max, using: &random)
                }
        }
        var capture = BluetoothCapture()
        capture.add(service: service, characteristic: characteristic, values: values)
        let rows = try capture.fields(fields + Self.date)
        try #require(rows.count == values.count)
        for (value, row) in zip(values, rows) { compare(try decode(value), row, value) }
    }

    private func expect(_ time: DateTime?, _ row: [String: [String]], _ bytes: [UInt8]) {
        let own = time.map { [$0.year, $0.month, $0.day, $0.hour, $0.minute, $0.second] }
        #expect(own == Self.date.map { row.number($0) } as? [Int] || own == nil && row["year"] == [], "\(bytes) \(row)")
    }

    private func expect(_ number: MedicalNumber?, _ text: String?, _ bytes: [UInt8]) {
        switch number {
        case nil: #expect(text == nil, "\(bytes)")
        case .value(let value):
            let theirs = text.flatMap { Double($0) }
            #expect(theirs.map { abs($0 - value) <= abs(value) * 1e-12 } == true, "\(value) \(text ?? "") \(bytes)")
        case .notANumber: #expect(text == "NaN", "\(bytes)")
        case .notAtThisResolution: #expect(text == "NRes", "\(bytes)")
        case .positiveInfinity: #expect(text == "+INFINITY", "\(bytes)")
        case .negativeInfinity: #expect(text == "-INFINITY", "\(bytes)")
        case .reserved: #expect(text == "RFU", "\(bytes)")
        }
    }

    @Test func `a heart rate, with contact, energy and the times between beats`() throws {
        let name = "heart_rate_measurement"
        try check(
            0x180d, 0x2a37, seed: 1,
            [
                "value.8", "value.16", "energy_expended", "rr_interval", "flags.sensor_contact_status.support",
                "flags.sensor_contact_status.contact",
            ].map { "\(name).\($0)" }, decode: HeartRateMeasurement.init
        ) { own, row, bytes in
            #expect(own.rate == row.number("\(name).value.8") ?? row.number("\(name).value.16"))
            #expect(own.energy == row.number("\(name).energy_expended"))
            #expect(own.intervals == row["\(name).rr_interval"]?.compactMap { Int($0) })
            let isSupported = row.number("\(name).flags.sensor_contact_status.support") == 1
            #expect(
                own.hasContact == (isSupported ? row.number("\(name).flags.sensor_contact_status.contact") == 1 : nil))
        }
    }

    @Test func `a blood pressure in both units, with time, pulse, user and status`() throws {
        let name = "blood_pressure_measurement"
        let parts = ["systolic", "diastolic", "arterial_pressure"]
        try check(
            0x1810, 0x2a35, seed: 2,
            parts.flatMap { ["\(name).compound_value.\($0).mmhg", "\(name).compound_value.\($0).kpa"] }
                + ["pulse_rate", "user_id", "status", "flags.unit"].map { "\(name).\($0)" },
            decode: BloodPressureMeasurement.init
        ) { own, row, bytes in
            let unit = own.isKilopascal ? "kpa" : "mmhg"
            for (part, number) in zip(parts, [own.systolic, own.diastolic, own.meanArterial]) {
                expect(number, row["\(name).compound_value.\(part).\(unit)"]?.first, bytes)
            }
            expect(own.pulse, row["\(name).pulse_rate"]?.first, bytes)
            #expect(own.user ?? 255 == row.number("\(name).user_id") ?? 255)
            #expect((own.status?.rawValue).map(Int.init) == row.number("\(name).status"))
            expect(own.time, row, bytes)
        }
    }

    @Test func `the bits of a cuff's status`() throws {
        let name = "blood_pressure_measurement.status"
        try check(
            0x1810, 0x2a35, seed: 3,
            ["body_movement", "cuff_fit_too_loose", "irregular_pulse", "improper_measurement_position"].map {
                "\(name).\($0)"
            },
            decode: BloodPressureMeasurement.init
        ) { own, row, _ in
            guard let status = own.status else { return }
            #expect(status.contains(.bodyMoved) == (row.number("\(name).body_movement") == 1))
            #expect(status.contains(.cuffTooLoose) == (row.number("\(name).cuff_fit_too_loose") == 1))
            #expect(status.contains(.irregularPulse) == (row.number("\(name).irregular_pulse") == 1))
            #expect(status.contains(.improperPosition) == (row.number("\(name).improper_measurement_position") == 1))
        }
    }

    @Test func `a spot check of an oximeter`() throws {
        let name = "plxs.spot_check_measurement"
        try check(
            0x1822, 0x2a5e, seed: 4,
            [
                "spo2", "pulse_rate", "measurement_status", "device_and_sensor_status", "pulse_amplitude_index",
                "flags.device_clock_is_not_set",
            ].map { "\(name).\($0)" }, decode: PLXSpotCheck.init
        ) { own, row, bytes in
            expect(own.pair.saturation, row["\(name).spo2"]?.first, bytes)
            expect(own.pair.pulse, row["\(name).pulse_rate"]?.first, bytes)
            #expect((own.status?.rawValue).map(Int.init) == row.number("\(name).measurement_status"))
            #expect((own.sensor?.rawValue).map(Int.init) == row.number("\(name).device_and_sensor_status"))
            expect(own.amplitude, row["\(name).pulse_amplitude_index"]?.first, bytes)
            #expect(own.isClockUnset == (row.number("\(name).flags.device_clock_is_not_set") == 1))
            expect(own.time, row, bytes)
        }
    }

    @Test func `the running values of an oximeter, with all bits of both statuses`() throws {
        let name = "plxs.spot_check_measurement"
        let status: [(String, PLXStatus)] = [
            ("measurement_ongoing", .ongoing), ("early_estimated_data", .earlyEstimate), ("validated_data", .validated),
            ("fully_qualified_data", .fullyQualified), ("data_from_measurement_storage", .fromStorage),
            ("data_for_demonstration", .demonstration), ("data_for_testing", .testing),
            ("calibration_ongoing", .calibration), ("measurement_unavailable", .unavailable),
            ("questionable_measurement_detected", .questionable), ("invalid_measurement_detected", .invalid),
        ]
        let sensor: [(String, PLXSensorStatus)] = [
            ("equipment_malfunction_detected", .malfunction), ("inadequate_signal_detected", .inadequateSignal),
            ("erratic_signal_detected", .erraticSignal), ("non_pulsatile_signal_detected", .nonpulsatileSignal),
            ("questionable_pulse_detected", .questionablePulse), ("unconnected_to_user", .unconnected),
            ("sensor_displaced", .displaced), ("sensor_malfunctioning", .sensorMalfunction),
            ("sensor_disconnected", .disconnected),
        ]
        let statusNames = status.map { "\(name).measurement_status.\($0.0)" }
        let sensorNames = sensor.map { "\(name).device_and_sensor_status.\($0.0)" }
        try check(
            0x1822, 0x2a5f, seed: 5,
            ["\(name).spo2", "\(name).pulse_rate", "\(name).pulse_amplitude_index"] + statusNames + sensorNames,
            decode: PLXContinuous.init
        ) { own, row, bytes in
            let pairs = [own.normal, own.fast, own.slow].compactMap { $0 }
            for (index, pair) in pairs.enumerated() {
                expect(pair.saturation, row["\(name).spo2"]?[index], bytes)
                expect(pair.pulse, row["\(name).pulse_rate"]?[index], bytes)
            }
            #expect(row["\(name).spo2"]?.count == pairs.count)
            expect(own.amplitude, row["\(name).pulse_amplitude_index"]?.first, bytes)
            for ((_, bit), field) in zip(status, statusNames) {
                #expect(own.status.map { $0.contains(bit) } == row.number(field).map { $0 == 1 }, "\(field)")
            }
            for ((_, bit), field) in zip(sensor, sensorNames) {
                #expect(own.sensor.map { $0.contains(bit) } == row.number(field).map { $0 == 1 }, "\(field)")
            }
        }
    }

    @Test func `a temperature's time and unit, but not its number, which tshark reads wrong`() throws {
        let name = "temperature_measurement"
        try check(
            0x1809, 0x2a1c, seed: 6, ["flags.temperature_unit"].map { "\(name).\($0)" },
            decode: TemperatureMeasurement.init
        ) { own, row, bytes in
            #expect(own.isFahrenheit == (row.number("\(name).flags.temperature_unit") == 1))
            expect(own.time, row, bytes)
        }
    }

    @Test func `a weight in both units, with user, body mass index and height`() throws {
        let name = "weight_measurement"
        try check(
            0x181d, 0x2a9d, seed: 7,
            ["weight.lb", "weight.kg", "user_id", "bmi", "height.in", "height.m", "flags.measurement_units"].map {
                "\(name).\($0)"
            },
            decode: WeightMeasurement.init
        ) { own, row, bytes in
            #expect(own.isImperial == (row.number("\(name).flags.measurement_units") == 1))
            #expect(own.weight ?? 0xffff == row.number("\(name).weight.\(own.isImperial ? "lb" : "kg")"))
            #expect(own.user ?? 255 == row.number("\(name).user_id") ?? 255)
            // tshark 4.0 reads these two only where there is a time.
            guard own.time != nil else { return }
            #expect(own.bodyMassIndex == row.number("\(name).bmi"))
            #expect(own.height == row.number("\(name).height.\(own.isImperial ? "in" : "m")"))
            expect(own.time, row, bytes)
        }
    }

    @Test func `a body composition in both units, with all its parts`() throws {
        let name = "body_composition_measurement"
        let masses = ["muscle_mass", "fat_free_mass", "soft_lean_mass", "body_water_mass", "weight"]
        try check(
            0x181b, 0x2a9c, seed: 11,
            [
                "flags.measurement_units", "flags.multiple_packet_measurement", "body_fat_percentage", "user_id",
                "basal_metabolism", "muscle_percentage", "impedance", "height.inches", "height.meter",
            ].map { "\(name).\($0)" } + masses.flatMap { ["\(name).\($0).lb", "\(name).\($0).kg"] },
            decode: BodyCompositionMeasurement.init
        ) { own, row, bytes in
            #expect(own.isImperial == (row.number("\(name).flags.measurement_units") == 1))
            #expect(own.isInPackets == (row.number("\(name).flags.multiple_packet_measurement") == 1))
            #expect(own.bodyFat ?? 0xffff == row.number("\(name).body_fat_percentage"))
            #expect(own.user ?? 255 == row.number("\(name).user_id") ?? 255)
            // tshark 4.0 reads what follows only where there is a time.
            guard own.time != nil else { return }
            expect(own.time, row, bytes)
            #expect(own.basalMetabolism == row.number("\(name).basal_metabolism"))
            #expect(own.musclePercentage == row.number("\(name).muscle_percentage"))
            #expect(own.impedance == row.number("\(name).impedance"))
            #expect(own.height == row.number("\(name).height.\(own.isImperial ? "inches" : "meter")"))
            let parts = [own.muscleMass, own.fatFreeMass, own.softLeanMass, own.bodyWaterMass, own.weight]
            for (mass, number) in zip(masses, parts) {
                #expect(number == row.number("\(name).\(mass).\(own.isImperial ? "lb" : "kg")"), "\(mass) \(bytes)")
            }
        }
    }

    @Test func `a record of a glucose meter, with all bits of its status`() throws {
        let name = "glucose_measurement"
        let status: [(String, GlucoseMeasurement.Status)] = [
            ("battery_low", .batteryLow), ("fault", .malfunction), ("size_insufficient", .sampleTooSmall),
            ("strip_insertion_error", .stripInsertion), ("strip_type_incorrect", .wrongStrip),
            ("result_too_high", .aboveRange), ("result_too_lower", .belowRange), ("temperature_too_high", .tooHot),
            ("temperature_too_low", .tooCold), ("read_interrupted", .readInterrupted),
            ("general_fault", .generalFault), ("time_fault", .timeFault),
        ]
        let bits = status.map { "\(name).sensor_status_annunciation.\($0.0)" }
        try check(
            0x1808, 0x2a18, seed: 8,
            [
                "sequence_number", "time_offset", "glucose_concentration.kg_per_l", "glucose_concentration.mol_per_l",
                "type_and_sample_location.type", "type_and_sample_location.sample_location",
                "flags.context_information_follows",
            ].map { "\(name).\($0)" } + bits, decode: GlucoseMeasurement.init
        ) { own, row, bytes in
            #expect(own.sequence == row.number("\(name).sequence_number"))
            #expect(own.timeOffset == row.number("\(name).time_offset"))
            let unit = own.isMolar ? "mol_per_l" : "kg_per_l"
            expect(own.concentration, row["\(name).glucose_concentration.\(unit)"]?.first, bytes)
            #expect(own.fluid == row.number("\(name).type_and_sample_location.type") ?? 0)
            #expect(own.location == row.number("\(name).type_and_sample_location.sample_location") ?? 0)
            #expect(own.hasContext == (row.number("\(name).flags.context_information_follows") == 1))
            for ((_, bit), field) in zip(status, bits) {
                #expect(own.status.map { $0.contains(bit) } == row.number(field).map { $0 == 1 }, "\(field)")
            }
            expect(own.baseTime, row, bytes)
        }
    }

    @Test func `the context of a record of a glucose meter`() throws {
        let name = "glucose_measurement_context"
        try check(
            0x1808, 0x2a34, seed: 9,
            [
                "sequence_number", "carbohydrate_id", "carbohydrate.kg", "meal", "tester_and_health.tester",
                "tester_and_health.health", "exercise_duration", "exercise_intensity", "medication_id", "medication.l",
                "medication.kg", "hba1c",
            ].map { "\(name).\($0)" }, decode: GlucoseContext.init
        ) { own, row, bytes in
            #expect(own.sequence == row.number("\(name).sequence_number"))
            #expect(own.carbohydrate?.kind == row.number("\(name).carbohydrate_id"))
            expect(own.carbohydrate?.mass, row["\(name).carbohydrate.kg"]?.first, bytes)
            #expect(own.meal == row.number("\(name).meal"))
            // tshark 4.0 reads both halves of this byte the other way round.
            #expect(own.testerAndHealth?.tester == row.number("\(name).tester_and_health.health"))
            #expect(own.testerAndHealth?.health == row.number("\(name).tester_and_health.tester"))
            #expect(own.exercise?.seconds == row.number("\(name).exercise_duration"))
            #expect(own.exercise?.intensity == row.number("\(name).exercise_intensity"))
            #expect(own.medication?.kind == row.number("\(name).medication_id"))
            let unit = own.medication?.isVolume == true ? "l" : "kg"
            expect(own.medication?.amount, row["\(name).medication.\(unit)"]?.first, bytes)
            expect(own.haemoglobin, row["\(name).hba1c"]?.first, bytes)
        }
    }

    @Test func `the clock that a device shows`() throws {
        try check(
            0x1805, 0x2a2b, seed: 10, ["day_of_week", "fractions256", "adjust_reason"], flags: 0, length: 10,
            decode: CurrentTime.init
        ) { own, row, bytes in
            expect(own.dateTime, row, bytes)
            #expect(own.dayOfWeek == row.number("day_of_week"))
            #expect(own.fractions == row.number("fractions256"))
            #expect(Int(own.adjustReason) == row.number("adjust_reason"))
        }
    }
}
