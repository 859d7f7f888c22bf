import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What becomes of the records of Apple's own export.
@Suite struct AppleExportTests {
    @Test(arguments: ["apple_health_export/export.xml", "apple_health_export/Exportieren.xml", "export.xml"])
    func `the export is found in its archive, whatever the phone calls it, and by itself`(name: String) throws {
        let xml = HealthFile.xml([HealthFile.record("BodyMass", "71.5", "08:00:12", unit: "kg")])
        for bytes in [HealthFile.zip(xml, as: name), Array(xml.utf8)] {
            let found = try HealthFile.read(bytes)
            #expect(found.samples.map(\.value) == [71.5] && found.problem == nil)
            #expect(found.samples.first?.start == Phone.at("2026-06-12T06:00:12Z"))
            #expect(found.samples.first?.origin?.name == HealthFile.watch)
        }
    }

    @Test func `values have the units of the gateway`() throws {
        let rows: [(type: String, value: String, unit: String, metric: Metric, expected: Double)] = [
            ("OxygenSaturation", "0.97", "%", .bloodOxygen, 97), ("BodyFatPercentage", "0.213", "%", .bodyFat, 21.3),
            ("BodyTemperature", "98.6", "degF", .temperature, 37), ("VO2Max", "41.2", "mL/min·kg", .vo2Max, 41.2),
            ("BloodGlucose", "5", "mmol&lt;180.1558800000541&gt;/L", .bloodGlucose, 90.1),
            ("Height", "5.5", "ft", .height, 167.64),
            ("HeartRateVariabilitySDNN", "40", "ms", .heartRateVariability, 40),
            ("AppleSleepingWristTemperature", "35.2", "degC", .skinTemperature, 35.2),
            ("EnvironmentalAudioExposure", "61", "dBASPL", .noiseExposure, 61),
            ("HeartRateRecoveryOneMinute", "30", "count/min", .heartRateRecovery, 30),
            ("RestingHeartRate", "55", "count/min", .restingHeartRate, 55),
            ("WalkingHeartRateAverage", "95", "count/min", .walkingHeartRate, 95),
        ]
        for row in rows {
            let found = try HealthFile.read([HealthFile.record(row.type, row.value, "10:00:00", unit: row.unit)])
            #expect(
                found.samples.map(\.metric) == [row.metric] && found.samples.map(\.value) == [row.expected], "\(row)")
        }
    }

    @Test func `counts begin before their minute, so that they meet all minutes of the posts`() throws {
        let rows: [(type: String, value: String, unit: String, metric: Metric, expected: Double)] = [
            ("StepCount", "120", "count", .steps, 120), ("DistanceCycling", "1.5", "km", .distance, 1500),
            ("ActiveEnergyBurned", "4.184", "kJ", .activeEnergy, 1), ("FlightsClimbed", "2", "count", .floors, 2),
            ("AppleExerciseTime", "3", "min", .exerciseMinutes, 3), ("DietaryWater", "0.25", "L", .hydration, 250),
            ("BasalEnergyBurned", "5", "Cal", .basalEnergy, 5), ("DietaryProtein", "12", "g", .protein, 12),
        ]
        for row in rows {
            let found = try HealthFile.read([
                HealthFile.record(row.type, row.value, "10:00:13", "10:03:40", unit: row.unit)
            ])
            #expect(
                found.samples.map(\.metric) == [row.metric] && found.samples.map(\.value) == [row.expected], "\(row)")
            #expect(found.samples.first?.start == Phone.at("2026-06-12T07:59:59.986Z"))
            #expect(found.samples.first?.end == Phone.at("2026-06-12T08:03:40Z"))
        }
        #expect(
            AppleExport.widened(Phone.at("2026-06-12T08:00:00Z")) == Phone.at("2026-06-12T08:00:00Z"))
    }

    @Test func `a heart rate says whether the person was exercising, and a glucose when it was measured`() throws {
        let motion = "HKMetadataKeyHeartRateMotionContext"
        let found = try HealthFile.read(
            ["0", "1", "2"].enumerated().map { minute, word in
                HealthFile.record(
                    "HeartRate", "6\(word)", "10:0\(minute):00", unit: "count/min",
                    content: HealthFile.metadata(motion, word))
            } + [
                HealthFile.record(
                    "BloodGlucose", "90", "10:00:00", unit: "mg/dL",
                    content: HealthFile.metadata("HKBloodGlucoseMealTime", "1"))
            ])
        #expect(found.samples.map(\.isExercise) == [nil, false, true, nil])
        #expect(found.samples.last?.qualifiers == [.meal: "before"])
    }

    @Test func `stages of a source become nights`() throws {
        func stage(_ word: String, _ start: String, _ end: String, _ source: String = HealthFile.watch) -> String {
            HealthFile.record("SleepAnalysis", "HKCategoryValueSleepAnalysis\(word)", start, end, source: source)
        }
        let found = try HealthFile.read([
            stage("InBed", "00:00:00", "06:30:00", "iPhone"), stage("AsleepCore", "00:30:00", "02:00:00"),
            stage("AsleepDeep", "02:00:00", "03:00:00"), stage("AsleepREM", "03:00:00", "03:30:00"),
            stage("Awake", "03:30:00", "03:40:00"), stage("AsleepUnspecified", "03:40:00", "04:00:00"),
            stage("AsleepCore", "14:00:00", "14:30:00"), stage("Dreaming", "15:00:00", "15:30:00"),
        ])
        let watch = found.samples.filter { $0.origin?.name == HealthFile.watch }
        #expect(found.samples.count == 3 && watch.map(\.value) == [200, 30])
        guard case .sleep(let night)? = watch.first?.reading else { return #expect(Bool(false)) }
        #expect(night.stages.map(\.depth) == [.light, .deep, .rem, .awake, .asleep])
        #expect(found.skipped == ["a time of sleep without its depth: HKCategoryValueSleepAnalysisDreaming": 1])
    }

    @Test func `workouts have their statistics, those of old exports their totals`() throws {
        let times = #"startDate="2026-06-12 10:00:00 +0200" endDate="2026-06-12 10:30:00 +0200""#
        let found = try HealthFile.read([
            """
             <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" sourceName="W" \(times)>
              <MetadataEntry key="HKIndoorWorkout" value="0"/>
              <WorkoutActivity uuid="1" \(times)>
               <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="1" minimum="1" maximum="1" unit="count/min"/>
              </WorkoutActivity>
              <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" \(times) sum="300" unit="Cal"/>
              <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" \(times) sum="5.1" unit="km"/>
              <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="150" minimum="98" maximum="171" unit="count/min"/>
             </Workout>
            """,
            """
             <Workout workoutActivityType="HKWorkoutActivityTypeHighIntensityIntervalTraining" totalDistance="3" totalDistanceUnit="mi" totalEnergyBurned="200" totalEnergyBurnedUnit="kcal" sourceName="W" \(times.replacing("12 10", with: "11 10"))/>
            """,
        ])
        #expect(
            found.samples.map(\.reading) == [
                .sport(
                    Sport(
                        activity: "running", distance: 5100, energy: 300, minimumHeartRate: 98, averageHeartRate: 150,
                        maximumHeartRate: 171)),
                .sport(Sport(activity: "high_intensity_interval_training", distance: 4828, energy: 200)),
            ])
    }

    @Test func `a blood pressure counts once, as its correlation`() throws {
        let parts = [
            HealthFile.record("BloodPressureSystolic", "121", "09:00:00", unit: "mmHg"),
            HealthFile.record("BloodPressureDiastolic", "79", "09:00:00", unit: "mmHg"),
        ]
        let times = #"startDate="2026-06-12 09:00:00 +0200" endDate="2026-06-12 09:00:00 +0200""#
        let found = try HealthFile.read(
            parts + [
                " <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\" sourceName=\"Cuff\" \(times)>\n\(parts.joined(separator: "\n"))\n </Correlation>"
            ])
        #expect(found.samples.map(\.reading) == [.bloodPressure(BloodPressure(systolic: 121, diastolic: 79))])
        #expect(found.leftOut.isEmpty && found.skipped.isEmpty)
    }

    @Test func `hours with standing are counted, and what the gateway has no metric for is counted by type`() throws {
        let found = try HealthFile.read([
            HealthFile.record("AppleStandHour", "HKCategoryValueAppleStandHourStood", "10:00:00", "11:00:00"),
            HealthFile.record("AppleStandHour", "HKCategoryValueAppleStandHourIdle", "11:00:00", "12:00:00"),
            HealthFile.record("UVExposure", "3", "10:00:00", unit: "count"),
            HealthFile.record("UVExposure", "4", "11:00:00", unit: "count"),
            " <ActivitySummary dateComponents=\"2026-06-12\" activeEnergyBurned=\"300\"/>",
            " <ClinicalRecord type=\"AllergyRecord\" identifier=\"1\"/>",
        ])
        #expect(found.samples.map(\.metric) == [.standHours] && found.samples.map(\.value) == [1])
        #expect(found.leftOut == ["UVExposure": 2, "AllergyRecord": 1])
    }

    @Test func `the offset that is written says when, and nothing of the day`() throws {
        let found = try HealthFile.read([
            HealthFile.record("BodyMass", "70", "23:30:00", unit: "kg", zone: "-0700"),
            HealthFile.record("BodyMass", "71", "08:30:00", unit: "kg", day: "2026-06-13"),
        ])
        // Both are one moment, and so one record.
        #expect(Set(found.samples.map(\.start)) == [Phone.at("2026-06-13T06:30:00Z")])
    }
}
