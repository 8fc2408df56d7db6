// Hills with fields and hedges, a river, and a branch line: a little train crosses the viaduct towards the station.

#version 3.7;
#include "Scenery.inc"

View(<-40, 88, -150>, <33, 6, 27>, 53)
Daylight(<-0.70, 0.62, -0.55>, 1.0)
fog { fog_type 1 distance 4500 color srgb <0.78, 0.85, 0.91> }

#declare S = seed(1871);
#declare Line = 17;         // The height of the railway, which runs along x at z = 0.

// ----------------------------------------------------------------------------------------------------- The land
//
// Everything that stands on the ground asks these functions for its height.

#declare River_X = function(Z) { 32 * sin(Z / 95 + 0.35) - 6 * sin(Z / 37) }
#declare Road_X = function(Z) { 128 + 18 * sin(Z / 60) + 10 * sin(Z / 27) }
#declare Off_Line = function(Z) { 1 - exp(-pow(Z / 30, 4)) }
#declare Valley = function(X, Z) { 21.5 * exp(-pow((X - River_X(Z)) / 46, 2)) }
#declare Hills = function(X, Z) {
    (f_noise3d(X / 150 + 5, 0, Z / 150) - 0.45) * 42 + (f_noise3d(X / 47, 3, Z / 47) - 0.5) * 9
    + 46 * pow(max(0, (Z - 170) / 400), 1.5)
}
#declare Ground = function(X, Z) { Line - 0.4 + Hills(X, Z) * Off_Line(Z) * (1 - 0.75 * exp(-pow((X - River_X(Z)) / 60, 2))) - Valley(X, Z) }

#declare West = -500; #declare South = -220; #declare Bottom = -20; #declare Extent = 1000; #declare Depth = 160;
#declare Field_Shape = transform { scale <74, 100000, 52> rotate y * 17 translate <11, 500, 7> }
#declare Field_Edge = function { pattern { crackle form <-1, 1, 0> metric 2 transform { Field_Shape } } }

// The fields are cells of a stretched pattern; what grows in them is not stretched.
#declare Unstretched = transform { Field_Shape inverse }
#macro Green(Size, C1, C2)
    pigment { bozo scale Size turbulence 0.7 color_map { [0.3 rgb C1] [0.7 rgb C2] } transform { Unstretched } }
#end
#declare Grass = Green(9, Rgb(0.44, 0.50, 0.29), Rgb(0.52, 0.56, 0.34))
#declare Meadow = Green(5, Rgb(0.39, 0.46, 0.26), Rgb(0.50, 0.54, 0.32))
#macro Rows(Turn, Width, C1, C2)
    pigment { gradient x triangle_wave scale Width rotate y * Turn warp { turbulence 0.15 } color_map { [0.2 rgb C1] [0.8 rgb C2] }
        transform { Unstretched } }
#end
#declare Wheat = Rows(20, 3.0, Rgb(0.74, 0.64, 0.36), Rgb(0.79, 0.70, 0.43))
#declare Stubble = Rows(-30, 2.2, Rgb(0.70, 0.62, 0.42), Rgb(0.78, 0.71, 0.50))
#declare Ploughed = Rows(65, 1.8, Rgb(0.40, 0.31, 0.23), Rgb(0.52, 0.41, 0.31))
#declare Beets = Rows(-12, 1.8, Rgb(0.30, 0.40, 0.20), Rgb(0.47, 0.47, 0.32))
#declare Rape = Rows(40, 2.6, Rgb(0.74, 0.68, 0.26), Rgb(0.79, 0.74, 0.33))
#declare Hay = Rows(5, 4.4, Rgb(0.55, 0.58, 0.31), Rgb(0.64, 0.64, 0.38))

#declare Fields = pigment {
    crackle solid
    pigment_map {
        [0.14 Grass] [0.14 Wheat] [0.28 Wheat] [0.28 Meadow] [0.42 Meadow] [0.42 Hay] [0.52 Hay] [0.52 Ploughed]
        [0.60 Ploughed] [0.60 Grass] [0.72 Grass] [0.72 Rape] [0.79 Rape] [0.79 Beets] [0.88 Beets] [0.88 Stubble]
    }
    transform { Field_Shape }
}

// Beside the river and along the line there are only meadows; the road is a strip of gravel.
#declare River_Meadow = pigment {
    bozo scale 6 turbulence 1.2 omega 0.7
    color_map { [0.2 srgb <0.37, 0.45, 0.24>] [0.5 srgb <0.47, 0.53, 0.30>] [0.75 srgb <0.56, 0.57, 0.37>] }
}
#declare Gravel = pigment { bozo scale 1.5 color_map { [0.3 srgb <0.62, 0.58, 0.50>] [0.7 srgb <0.72, 0.68, 0.60>] } }
#declare Bank = pigment { bozo scale 1 turbulence 0.5 color_map { [0.3 srgb <0.55, 0.50, 0.38>] [0.7 srgb <0.46, 0.50, 0.30>] } }
#declare Kind_Of_Land = function {
    select(2.6 - abs(x - Road_X(z)) * select(z - 9, 1000, 1), select(0.9 - y, select(max(Valley(x, z) - 6, 13 - abs(z)), 0, 1), 2), 3) / 4 + 0.1
}
height_field {
    function 1400, 1400 { (Ground(West + Extent * x, South + Extent * (1 - y)) - Bottom) / Depth }
    smooth
    scale <Extent, Depth, Extent> translate <West, Bottom, South>
    texture {
        pigment {
            function { Kind_Of_Land(x, y, z) }
            pigment_map { [0.25 Fields] [0.25 River_Meadow] [0.5 River_Meadow] [0.5 Bank] [0.75 Bank] [0.75 Gravel] }
        }
        normal { bumps 0.12 scale 1.6 }
    }
}
plane { y, 0 Water(Rgb(0.19, 0.31, 0.28), 1.2, 0.09) }

// ----------------------------------------------------------------------------------------- Trees and hedges

#macro On_Ground(X, Z) <X, Ground(X, Z), Z> #end
#macro Free(X, Z) (abs(Z) > 11 & Ground(X, Z) > 0.8 & (Z < 6 | abs(X - Road_X(Z)) > 5) & abs(X) < 70 + (Z + 150) * 0.55) #end

// Hedges: bushes and trees where two fields meet.
#for (I, 1, 170000)
    #local Z = -120 + 560 * pow(rand(S), 1.2);
    #local X = Between(-1, 1, S) * (90 + (Z + 150) * 0.5) + 10;
    #if (Field_Edge(X, 0, Z) < 0.028 & Valley(X, Z) < 6)
        #if (Free(X, Z))
            #if (Chance(0.12, S))
                object { LeafTree(Between(5, 9, S), S) translate On_Ground(X, Z) }
            #else
                object { Bush(Between(1.6, 2.8, S), S) translate On_Ground(X, Z) }
            #end
        #end
    #end
#end

// Willows and alders along the river, copses on the slopes, a wood on the hills.
#for (I, 1, 900)
    #local Z = Between(-130, 420, S);
    #local X = River_X(Z) + Between(13, 34, S) * (1 - 2 * Chance(0.5, S));
    #if (Free(X, Z) & abs(Z) > 16 & f_noise3d(X / 22, 7, Z / 22) > 0.52)
        object { LeafTree(Between(4, 9, S), S) translate On_Ground(X, Z) }
    #end
#end
#for (I, 1, 9000)
    #local Z = Between(30, 520, S);
    #local X = Between(-1, 1, S) * (90 + (Z + 150) * 0.5);
    #if (Free(X, Z) & f_noise3d(X / 60, 11, Z / 60) + max(0, Z - 220) / 900 > 0.69 & Valley(X, Z) < 8)
        #if (Chance(0.35, S))
            object { FirTree(Between(9, 15, S), S) translate On_Ground(X, Z) }
        #else
            object { LeafTree(Between(7, 11, S), S) translate On_Ground(X, Z) }
        #end
    #end
#end

// Reeds and low scrub on the banks, single bushes in the meadows.
#for (I, 1, 7000)
    #local Z = Between(-140, 260, S);
    #local X = River_X(Z) + Between(8, 75, S) * (1 - 2 * Chance(0.5, S));
    #local Y = Ground(X, Z);
    #if (Y > -0.1 & abs(Z) > 8 & (Y < 0.9 | f_noise3d(X / 14, 17, Z / 14) > 0.66) & Valley(X, Z) > 5)
        object { Bush(Between(0.5, 1.3, S) * (1 + (Y > 0.9 & Chance(0.1, S))), S) translate <X, Y, Z> }
    #end
#end

// ------------------------------------------------------------------------------------------- Track and viaduct

#declare Ballast = texture { pigment { granite scale 0.6 color_map { [0.2 srgb <0.44, 0.41, 0.38>] [0.8 srgb <0.62, 0.59, 0.55>] } } normal { granite 0.5 scale 0.5 } }
#declare Rust = texture { pigment { color srgb <0.45, 0.36, 0.31> } finish { specular 0.5 roughness 0.02 } }
#macro Track(X1, X2, Z)
    prism { linear_sweep linear_spline X1, X2, 5, <-2.4, -0.6>, <2.4, -0.6>, <1.7, 0.1>, <-1.7, 0.1>, <-2.4, -0.6>
        rotate z * -90 rotate x * -90 translate <0, Line, Z> texture { Ballast } }
    #for (X, X1, X2, 0.75)
        box { <X - 0.13, Line + 0.05, Z - 1.25>, <X + 0.13, Line + 0.17, Z + 1.25> texture { Dark_Beam } }
    #end
    #for (I, -1, 1, 2)
        box { <X1, Line + 0.15, Z + I * 0.75 - 0.05>, <X2, Line + 0.32, Z + I * 0.75 + 0.05> texture { Rust } }
    #end
#end
Track(-330, 420, 0)
Track(96, 200, 5)

#declare Masonry = texture {
    pigment { brick srgb <0.50, 0.46, 0.40>, srgb <0.66, 0.60, 0.51> brick_size <1.3, 0.55, 0.9> mortar 0.06 }
    normal { granite 0.25 }
}
#declare Bay = 15;          // From pier to pier.
#for (K, -6, 5)
    union {
        difference {
            box { <0, -22, -2.9>, <Bay, -0.6, 2.9> }
            cylinder { <Bay / 2, -8.2, -4>, <Bay / 2, -8.2, 4>, 6 }
            box { <Bay / 2 - 6, -30, -4>, <Bay / 2 + 6, -8.2, 4> }
        }
        difference {
            cylinder { <Bay / 2, -8.2, -3.05>, <Bay / 2, -8.2, 3.05>, 6.7 }
            cylinder { <Bay / 2, -8.2, -4>, <Bay / 2, -8.2, 4>, 6 }
            box { <-5, -30, -4>, <Bay + 5, -8.2, 4> }
            pigment { color srgb <0.70, 0.65, 0.57> }
        }
        box { <-1.6, -8.6, -3.1>, <1.6, -8.1, 3.1> }
        box { <-1.75, -22, -3.2>, <1.75, -16, 3.2> }
        #for (I, -1, 1, 2)
            box { <0, -0.6, I * 3.0 - 0.25>, <Bay, 0.9, I * 3.0 + 0.25> }
            box { <0, 0.9, I * 3.0 - 0.35>, <Bay, 1.1, I * 3.0 + 0.35> texture { Stone_Grey } }
            box { <0, -0.9, I * 3.1 - 0.3>, <Bay, -0.55, I * 3.1 + 0.3> texture { Stone_Grey } }
        #end
        texture { Masonry }
        translate <K * Bay, Line, 0>
    }
#end

// The telegraph line.
#for (X, -300, 400, 24)
    #if (abs(X) > 92)
        cylinder { <X, Line - 1, -5>, <X, Line + 7, -5>, 0.13 texture { Dark_Beam } }
        #for (K, 0, 1) box { <X - 0.08, Line + 5.8 + K * 0.7, -6>, <X + 0.08, Line + 5.95 + K * 0.7, -4> texture { Dark_Beam } } #end
    #end
#end

// ---------------------------------------------------------------------------------------------------- The train

#declare Coach_Red = Gloss(Rgb(0.58, 0.16, 0.13))
#declare Coach_Cream = Gloss(Rgb(0.88, 0.82, 0.66))
#declare Coach_Roof = texture { pigment { color srgb <0.55, 0.56, 0.56> } }
#macro Bogie(X)
    union {
        box { <X - 1.5, 0.5, -1.0>, <X + 1.5, 0.9, 1.0> }
        #for (I, -1, 1, 2) cylinder { <X + I, 0.45, -0.9>, <X + I, 0.45, 0.9>, 0.45 } #end
        texture { Tyre }
    }
#end
#macro Coach(L)
    union {
        box { <-L / 2, 0.9, -1.4>, <L / 2, 2.2, 1.4> texture { Coach_Red } }
        box { <-L / 2, 2.2, -1.4>, <L / 2, 3.5, 1.4> texture { Coach_Cream } }
        cylinder { -x * (L / 2 + 0.1), x * (L / 2 + 0.1), 1.5 scale <1, 0.42, 1> translate y * 3.45 texture { Coach_Roof } }
        #for (X, -L / 2 + 1.4, L / 2 - 1.3, 1.55)
            box { <X - 0.5, 2.3, -1.43>, <X + 0.5, 3.2, 1.43> texture { Glass_Panes[0] } }
            cylinder { <X, 4.0, 0>, <X, 4.25, 0>, 0.16 texture { Coach_Roof } }
        #end
        Bogie(-L / 2 + 2.4) Bogie(L / 2 - 2.4)
        cylinder { -x * (L / 2 + 0.7), x * (L / 2 + 0.7), 0.2 translate y * 1.1 texture { Tyre } }
    }
#end
#declare Engine_Green = Gloss(Rgb(0.17, 0.33, 0.24))
#declare Engine = union {
    cylinder { <-1.2, 2.4, 0>, <4.6, 2.4, 0>, 0.95 texture { Engine_Green } }
    cylinder { <3.6, 2.4, 0>, <4.9, 2.4, 0>, 0.98 texture { Tyre } }
    #for (X, -0.6, 3.4, 1.3) cylinder { <X, 2.4, 0>, <X + 0.1, 2.4, 0>, 0.98 texture { pigment { color srgb <0.78, 0.62, 0.28> } } } #end
    cylinder { <4.1, 3.2, 0>, <4.1, 4.5, 0>, 0.32 texture { Tyre } }
    cone { <4.1, 4.4, 0>, 0.32, <4.1, 4.7, 0>, 0.45 texture { Tyre } }
    sphere { <1.6, 3.3, 0>, 0.5 texture { pigment { color srgb <0.80, 0.64, 0.30> } finish { specular 0.6 roughness 0.02 } } }
    cylinder { <0.2, 3.2, 0>, <0.2, 3.8, 0>, 0.3 texture { Engine_Green } }
    box { <-3.6, 1.0, -1.35>, <-1.2, 3.6, 1.35> texture { Engine_Green } }
    box { <-3.0, 2.5, -1.38>, <-1.6, 3.3, 1.38> texture { Glass_Panes[0] } }
    cylinder { <-3.9, 0, 0>, <-1.0, 0, 0>, 1.5 scale <1, 0.4, 1> translate y * 3.55 texture { Tyre } }
    box { <-3.6, 0.9, -1.3>, <4.9, 1.3, 1.3> texture { Coach_Red } }
    #for (X, -2.4, 3, 1.7) cylinder { <X, 0.75, -1>, <X, 0.75, 1>, 0.75 texture { Coach_Red } } #end
    box { <4.9, 0.7, -1.3>, <5.1, 1.4, 1.3> texture { Coach_Red } }
    // The tender.
    box { <-8.6, 1.0, -1.35>, <-4.2, 3.0, 1.35> texture { Engine_Green } }
    box { <-8.2, 2.9, -1.1>, <-4.6, 3.2, 1.1> texture { pigment { color srgb <0.10, 0.10, 0.10> } normal { granite 1 scale 0.5 } } }
    Bogie(-5.4) Bogie(-7.6)
}
union {
    object { Engine }
    #for (K, 0, 3) object { Coach(15) translate x * (-17.2 - K * 16.4) } #end
    translate <52, Line + 0.3, 0>
}

// -------------------------------------------------------------------------------------------------- The station

box { <100, Line - 1, 7.5>, <168, Line + 0.9, 13> texture { Ballast } }
box { <100, Line + 0.7, 7.2>, <168, Line + 1.0, 7.9> texture { Stone_Grey } }
box { <92, Line - 4, 7.4>, <190, Line - 0.2, 42> texture { pigment { Gravel } } }
object { House(22, 9, 2, 38, Rgb(0.84, 0.72, 0.52), Rgb(0.60, 0.37, 0.28), 1, 1, 1, 0, 1, S) translate <124, Line, 14> }
object { House(10, 8, 1, 38, Rgb(0.84, 0.72, 0.52), Rgb(0.60, 0.37, 0.28), 1, 1, 1, 0, 1, S) translate <141, Line, 14.5> }
union {
    box { <110, 4.2, 8.6>, <146, 4.4, 14> texture { Zinc } }
    #for (X, 111, 145, 5.6) cylinder { <X, 0, 9.2>, <X, 4.2, 9.2>, 0.12 texture { Dark_Beam } } #end
    translate y * Line
}
object { House(17, 9, 1, 34, Rgb(0.56, 0.36, 0.29), Rgb(0.50, 0.42, 0.38), 1, 1, 1, 0, 0, S) translate <165, Line, 14> }
#for (K, 1, 16) object { Person(S) translate <Between(102, 160, S), Line + 0.95, Between(8.2, 11, S)> } #end
#for (K, 0, 7)
    #if (Chance(0.8, S)) object { Car(S) rotate y * (90 + 180 * Chance(0.5, S)) translate <106 + K * 3.4, Line - 0.2, 34> } #end
#end
#for (K, 0, 6) object { LeafTree(Between(5, 7, S), S) translate <104 + K * 6, Line - 0.3, 40> } #end
#for (X, 100, 128, 9.4)
    box { <X, Line + 1, 3.6>, <X + 8.6, Line + 2.4, 6.4> texture { pigment { color srgb <0.42, 0.30, 0.24> } } }
    box { <X + 0.2, Line + 2.3, 3.8>, <X + 8.4, Line + 2.7, 6.2> texture { pigment { color srgb <0.16, 0.15, 0.14> } normal { granite 1 } } }
    union { Bogie(2) Bogie(6.6) translate <X, Line + 0.25, 5> }
#end

// ------------------------------------------------------------------------------------------- Farms and the road

// A farmhouse with a barn, a yard, trees, on a plinth that levels the slope.
#macro Farm(X, Z, Turn, S)
    union {
        object { Any_House(13, 9, 2, 45, S) }
        box { <-6.6, -5, -0.1>, <6.6, 0.2, 9.1> texture { Stone_Grey } }
        union {
            object { House(18, 11, 1, 44, Rgb(0.50, 0.36, 0.28), Varied(Pick_Colour(Roof_Colours, S), 0.2, S), 0, 0, 0, 0, 0, S) }
            box { <-9.1, -5, -0.1>, <9.1, 0.2, 11.1> texture { Stone_Grey } }
            box { <-2, 0, -0.1>, <2, 3, 0> texture { Dark_Beam } }
            rotate y * 90 translate <-14, 0, 2>
        }
        rotate y * Turn translate On_Ground(X, Z) + y * 0.3
    }
    #for (K, 1, 9)
        #local A = rand(S) * 360;
        #local P = <X, 0, Z> + vrotate(x * Between(17, 27, S), y * A);
        #if (Free(P.x, P.z)) object { LeafTree(Between(5, 9, S), S) translate On_Ground(P.x, P.z) } #end
    #end
#end
Farm(-78, 62, 20, S)
Farm(-118, 178, -35, S)
Farm(92, 128, 12, S)
Farm(164, 212, -20, S)
Farm(-50, -34, 18, S)
Farm(62, -64, 152, S)
Farm(60, 250, 40, S)
Farm(216, 118, 30, S)
#for (Z, 50, 330, 23)
    #local A = degrees(atan2(1, Road_X(Z + 1) - Road_X(Z)));
    object { Car(S) rotate y * -A translate On_Ground(Road_X(Z) + 1.2, Z) + y * 0.05 }
    #if (Chance(0.5, S)) object { Car(S) rotate y * (180 - A) translate On_Ground(Road_X(Z + 9) - 1.2, Z + 9) + y * 0.05 } #end
#end

// Bales of straw on the near field.
#for (I, 0, 4)
    #for (K, 0, 3)
        #local P = On_Ground(60 + K * 9 + I * 2.6 + Between(-1.5, 1.5, S), -44 + I * 6.5 + Between(-1.5, 1.5, S));
        #if (abs(P.z) > 9)
            cylinder { -x * 0.7, x * 0.7, 0.75 rotate y * Between(60, 120, S) translate P + y * 0.7
                texture { pigment { bozo scale 0.2 color_map { [0 srgb <0.66, 0.56, 0.34>] [1 srgb <0.80, 0.71, 0.48>] } } normal { bumps 0.5 scale 0.1 } } }
        #end
    #end
#end

// Boats on the river.
#for (K, 0, 4)
    #local Z = -74 + K * 17 + 22 * (K > 3);
    object { Rowing_Boat(S) rotate y * Between(50, 130, S) translate <River_X(Z) + Between(-13, -5, S), 0, Z> }
#end
object { Motor_Boat(7.5, S) rotate y * 96 translate <River_X(-48) + 4, 0, -48> }

// Cows on the meadows.
#for (I, 1, 400)
    #local Z = Between(-100, 220, S);
    #local X = Between(-140, 180, S);
    #if (Free(X, Z) & f_noise3d(X / 30, 21, Z / 30) > 0.66 & Field_Edge(X, 0, Z) > 0.08)
        union {
            sphere { 0, 1 scale <1.0, 0.5, 0.42> translate y * 1.0 }
            sphere { <1.15, 1.3, 0>, 0.3 }
            #for (K, -1, 1, 2) cylinder { <K * 0.6, 0, 0.2>, <K * 0.6, 0.8, 0.2>, 0.1 } cylinder { <K * 0.6, 0, -0.2>, <K * 0.6, 0.8, -0.2>, 0.1 } #end
            texture { pigment { bozo scale 0.5 color_map { [0.5 srgb <0.45, 0.30, 0.20>] [0.5 srgb <0.88, 0.86, 0.82>] } translate I } }
            rotate y * 360 * rand(S) translate On_Ground(X, Z)
        }
    #end
#end
