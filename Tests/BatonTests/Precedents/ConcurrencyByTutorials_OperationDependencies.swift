// Statements of Concurrency by Tutorials, chapter 9, ‘Operation Dependencies’
//
// The program of the chapter: download → decrypt → tilt shift → display. These tests connect the operations by order.
// ConcurrencyByTutorials_PassingImages.swift tests the second half, in which the image is found among the
// dependencies.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ConcurrencyByTutorials_OperationDependencies {
    private let stage = TestQueue()

    @Test func ConcurrencyByTutorials_1_aDependentDoesNotBeginBeforeItsPrerequisiteHasCompleted() {
        let arrival = Gate()
        let download = stage.waiting("download", at: arrival)
        let decrypt = stage.noting("decrypt", after: download)
        let tiltShift = stage.noting("tilt shift", after: decrypt)
        stage.run(tiltShift, decrypt, download)
        #expect(stage.ran == ["download"])
        #expect([download, decrypt, tiltShift].map(\.state) == [.executing, .waiting, .waiting])
        arrival.open()
        stage.steps.runAll()
        #expect(stage.ran == ["download", "decrypt", "tilt shift"])
    }

    @Test func ConcurrencyByTutorials_2_dataPassesFromTheFirstToTheSecond() throws {
        let download = AsyncOperation("download") { "yrneivr" }
        let decrypt = download.then { text in String(text.reversed()) }
        let display = decrypt.then { text in "‘\(text)’" }
        stage.run(display, decrypt, download)
        #expect(try display.result?.get() == "‘rvienry’")
    }

    @Test func ConcurrencyByTutorials_3_oneCallOnTheDependentAddsADependency() {
        let download = stage.noting("download")
        let decrypt = stage.noting("decrypt")
        decrypt.addDependency(download)
        stage.run(decrypt, download)
        #expect(stage.ran == ["download", "decrypt"])
    }

    /// The dependent then runs first, while the other operation is held back.
    @Test func ConcurrencyByTutorials_3_oneCallOnTheDependentRemovesIt() {
        let arrival = Gate()
        let decrypt = stage.waiting("decrypt", at: arrival)
        let tiltShift = stage.noting("tilt shift", after: decrypt)
        tiltShift.removeDependency(decrypt)
        stage.run(tiltShift, decrypt)
        #expect(tiltShift.ending == "success")
        #expect(decrypt.ending == "executing")
        arrival.open()
        stage.steps.runAll()
    }

    // Tests/DoesNotCompile/AssignmentToDependencies.swift shows that `dependencies` cannot be written to.
    @Test func ConcurrencyByTutorials_4_dependenciesIsAList() {
        let download = stage.noting("download")
        let key = stage.noting("key")
        let decrypt = stage.noting("decrypt", after: download, key)
        #expect(decrypt.dependencies.map(\.name) == ["download", "key"])
        #expect(download.dependencies.isEmpty)
        decrypt.removeDependency(download)
        #expect(decrypt.dependencies.map(\.name) == ["key"])
        stage.run(decrypt, key)
        #expect(decrypt.dependencies.isEmpty, "What has finished keeps nothing alive.")
    }

    @Test func ConcurrencyByTutorials_5_aStraightLineIsSafe() {
        let operations = (1...6).map { stage.noting("\($0)") }
        for (before, after) in zip(operations, operations.dropFirst()) { after.addDependency(before) }
        stage.queue.add(operations.reversed())
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3", "4", "5", "6"])
    }

    /// Operation 2 waits for 5, 5 for 3, and 3 for 2. As in the chapter, none of them runs. In Baton they end with the
    /// cycle in their error, and the other operations run.
    @Test func ConcurrencyByTutorials_5_theCycleIsFoundAndNamed() {
        let operations = (1...6).map { stage.noting("\($0)") }
        let (one, two, three, four, five, six) = (
            operations[0], operations[1], operations[2], operations[3], operations[4], operations[5]
        )
        two.addDependency(one)
        two.addDependency(five)
        five.addDependency(three)
        three.addDependency(two)
        four.addDependency(one)
        six.addDependency(five)
        stage.queue.add(operations)
        for member in [two, five, three] { #expect(member.error?.cycleNames == ["2", "5", "3"]) }
        stage.steps.runAll()
        #expect(stage.ran.sorted() == ["1", "4", "6"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func ConcurrencyByTutorials_10_eachMustBeAddedInAnyOrder() {
        let download = stage.noting("download")
        let tiltShift = stage.noting("tilt shift", after: download)
        stage.run(tiltShift)
        #expect(stage.ran == [])
        #expect(tiltShift.explain().roots.map(\.cause) == [.notAdded])
        #expect(tiltShift.explain().description.contains("‘download’ was not added to any queue"))
        stage.run(download)
        #expect(stage.ran == ["download", "tilt shift"])
    }

    @Test func ConcurrencyByTutorials_10_runAddsWhatIsNeeded() async {
        let download = stage.noting("download")
        let tiltShift = stage.noting("tilt shift", after: download)
        let run = stage.steps.task { [queue = stage.queue] in try? await queue.run(tiltShift) }
        stage.steps.runAll()
        #expect(await run.value != nil)
        #expect(stage.ran == ["download", "tilt shift"])
    }
}
